"""The files attached to an e-mail, each read as a document: those of one message, one level deep."""

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from email.message import Message
from pathlib import Path
from typing import NamedTuple

from longmatch.documents.archive import file_errors
from longmatch.documents.checks import NO_TEXT
from longmatch.documents.document import Document
from longmatch.documents.mail import DAMAGED, decoded_header, is_body, parse, parse_message, unquoted
from longmatch.documents.unique_names import UniqueNames
from longmatch.documents.unpacked import OnError, ReadFile, SuffixOf, passed_over_sentence, read_unpacked
from longmatch.errors import LongmatchWarning, ReadError

MOST_ATTACHMENTS = 1_000  # of a message
LONGEST_NAME = 200  # characters
_FILE_NAME = re.compile(rb"name\*?\d{0,3}\*?\s{0,9}=", re.IGNORECASE)
_COLLECTIONS = (".zip", ".mbox", ".jsonl", ".jsonl.gz", ".jsonl.xz")


class Attachment(NamedTuple):
    """A file in a message."""

    name: str
    part: "Message[str, str]"

    def content(self) -> Iterator[bytes]:
        """Its bytes, decoded when they are asked for."""
        data = self.part.get_payload(decode=True)
        yield data if isinstance(data, bytes) else b""


def read_attachments(
    data: bytes, path: object, id: str, suffix_of: SuffixOf, read_file: ReadFile, on_error: OnError
) -> Iterator[Document]:
    """Yield the documents attached to a message, with the ids `ID#NAME`; `path` names the message in sentences.

    Those that cannot be read go to `on_error`, and so do files that hold many documents: an e-mail is unpacked once.
    Files of no supported format are named in a warning.
    """
    readable: list[Attachment] = []
    passed_over: list[str] = []
    for attachment in attachments(data, path):
        suffix = suffix_of(attachment.name)
        if suffix in _COLLECTIONS:
            problem = "is a file of many documents in an e-mail"
            on_error(ReadError(f"{path}#{attachment.name}", problem, "Save it, and index the file."))
        elif suffix:
            readable.append(attachment)
        else:
            passed_over.append(attachment.name)
    if passed_over:
        warnings.warn(passed_over_sentence(path, passed_over, "attachment"), LongmatchWarning, stacklevel=2)
    if readable:
        parts = ((attachment.name, attachment.content()) for attachment in readable)
        yield from read_unpacked(parts, path, id, suffix_of, read_file, on_error, len(data))


def read_message(
    data: bytes, path: Path, number: int, id: str, suffix_of: SuffixOf, read_file: ReadFile, on_error: OnError
) -> Iterator[Document]:
    """Yield message `number` of the mailbox `path` and the documents attached to it; `id` is that of the mailbox."""

    def attached() -> Iterator[Document]:
        found = read_attachments(unquoted(data), f"{path}#{number}", f"{id}#{number}", suffix_of, read_file, on_error)
        return (replace(document, source=str(path)) for document in found)

    try:
        yield from with_attached(lambda: parse_message(data, path, number, id), attached)
    except ReadError as error:
        on_error(error)


def with_attached(
    read_text: Callable[[], Document], read_attached: Callable[[], Iterator[Document]]
) -> Iterator[Document]:
    """Yield a message and its attachments; the message may have no text if it has any of them."""
    empty = None
    try:
        yield read_text()
    except ReadError as error:
        if error.problem != NO_TEXT:
            raise
        empty = error
    for document in read_attached():
        empty = None
        yield document
    if empty is not None:
        raise empty


def attachments(data: bytes, path: object) -> list[Attachment]:
    """The attached files of a message, and of those that it forwards; pictures within its text are none."""
    if not _FILE_NAME.search(data):  # most messages have none
        return []
    with file_errors(path, DAMAGED, "Save it again from the mail program."):
        message = parse(data, path)
        found: list[Attachment] = []
        unique_name = UniqueNames(numbered=_numbered)
        for part in message.walk():
            if part.is_multipart() or is_body(part):
                continue
            if name := _name(part):
                found.append(Attachment(unique_name(name), part))
            if len(found) > MOST_ATTACHMENTS:
                raise ReadError(path, f"has more than {MOST_ATTACHMENTS:,} attachments", "Save them as files.")
        return found


def _name(part: "Message[str, str]") -> str:
    """The name of an attached file; empty for a part that is none."""
    if part.get_content_disposition() == "inline" and part.get_content_maintype() == "image":
        return ""
    try:
        given = part.get_filename("")
    except (LookupError, ValueError, TypeError):
        given = ""
    last = decoded_header(str(given)).replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(c for c in last if c.isprintable()).strip()[-LONGEST_NAME:]


def _numbered(name: str, count: int) -> str:
    """The name with a number before its suffix.

    >>> _numbered("a.pdf", 2), _numbered("a", 2)
    ('a (2).pdf', 'a (2)')
    """
    stem, dot, suffix = name.rpartition(".")
    return f"{stem} ({count}){dot}{suffix}" if stem else f"{name} ({count})"
