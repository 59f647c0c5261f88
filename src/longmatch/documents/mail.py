"""E-mail: the text of a message under its subject, and the files attached to it, one level deep; mailboxes (mbox)."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from email import message_from_bytes
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message as EmailPart
from email.utils import getaddresses, parsedate_to_datetime
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, TypeAlias

from longmatch.documents.archive import TooDeep, file_errors
from longmatch.documents.checks import LARGEST_FILE, NO_TEXT, check_document, check_file
from longmatch.documents.containers import Found, Member, crash, passed_over, read_unpacked
from longmatch.documents.decoding import decode, read_bytes
from longmatch.documents.document import Document
from longmatch.documents.draft import Draft
from longmatch.documents.formats import container_named, may_crash, read_single, suffix_of
from longmatch.documents.html import draft_html
from longmatch.documents.metadata import bibliography
from longmatch.documents.text import draft_text
from longmatch.documents.unique_names import UniqueNames
from longmatch.errors import ReadError

LARGEST_MESSAGE = LARGEST_FILE  # with its attachments
_LONGEST_HEADER = 10_000  # characters
_LONGEST_LINE = 1 << 20  # bytes read at a time
_SEPARATOR = b"From "  # before each message of a mailbox
_QUOTED_SEPARATOR = re.compile(rb"^>(>*From )", re.MULTILINE)
_ENCRYPTED = frozenset({"multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"})
_MULTIPART = re.compile(rb"^content-type:\s{0,9}multipart/", re.IGNORECASE | re.MULTILINE)
_PARAMETERS = re.compile(rb"^content-(?:type|disposition):[^\n]*+(?:\n[ \t][^\n]*+)*+", re.IGNORECASE | re.MULTILINE)
_LONGEST_PARAMETERS = 4_000  # bytes of such a header: the time to divide it grows with their square
_MOST_MULTIPARTS = 100  # they may lie inside each other, and every line is compared with the ends of all
_DAMAGED = "is damaged or not an e-mail"
_MOST_ATTACHMENTS = 1_000  # of a message
_LONGEST_NAME = 200  # characters
Attachment: TypeAlias = tuple[str, "EmailPart[str, str]"]  # its name, and the part of the message
_FILE_NAME = re.compile(rb"name\*?\d{0,3}\*?\s{0,9}=", re.IGNORECASE)


def read_mail(path: Path) -> Draft:
    """Read the text of one message."""
    return draft_mail(read_bytes(path), path)


@dataclass(frozen=True)
class Mail(Member):
    """A message and what is attached to it: a file of one message, or a message of a mailbox, by its number."""

    data: bytes = b""  # of one in a mailbox

    def documents(self, id: str) -> Iterator[Found]:
        """The message, which may have no text if any of its attachments is read, and then these."""
        empty = None
        try:
            yield self._text(id)
        except ReadError as error:
            if error.problem != NO_TEXT:
                raise
            empty = error
        for found in read_attachments(self._bytes(), self.address, f"{id}#{self.name}" if self.name else id):
            empty = None if isinstance(found, Document) else empty
            yield replace(found, source=str(self.path)) if isinstance(found, Document) else found
        if empty is not None:
            yield empty

    def after_crash(self, id: str) -> Iterator[Found]:
        """The text of a message whose attachment made its reader crash."""
        with suppress(ReadError):
            yield self._text(id)
        yield crash(f"{self.address}, or a file attached to it,")

    def content(self, wanted: str) -> bytes | None:
        """The bytes of an attached file."""
        attached = wanted.partition("#")[2] if self.name else wanted
        return attached_content(self._bytes(), self.address, attached, ".eml")

    @property
    def may_crash(self) -> bool:
        """Whether a file attached to it may end its reader."""
        if not self.name:
            return True
        try:
            return any(may_crash(name) for name, _ in attachments(self.data, self.path))
        except ReadError:  # said when it is read
            return False

    def _text(self, id: str) -> Document:
        if not self.name:
            return read_single(self.path, id)
        where = f"{self.path}, message {self.name},"
        if self.size > LARGEST_MESSAGE:
            raise ReadError(where, "is too large for an e-mail", "Save its text alone.")
        draft = draft_mail(self.data, where)
        return check_document(draft.document(f"{id}#{self.name}", source=str(self.path)), where)

    def _bytes(self) -> bytes:
        return self.data if self.name else read_bytes(self.path)


def mail_members(path: Path) -> Iterator[Member]:
    """A file of one message."""
    yield Mail(path)


def mailbox_members(path: Path) -> Iterator[Member]:
    """The messages of a mailbox, by their numbers from 1; of one that is too large, its beginning."""
    check_file(path)
    try:
        with path.open("rb") as file:
            for number, data in _messages(file, path):
                yield Mail(path, str(number), len(data), _QUOTED_SEPARATOR.sub(rb"\1", data))
    except OSError as error:
        raise ReadError(path, f"cannot be read ({error.strerror})", "Check its permissions.") from error


def _messages(file: BinaryIO, path: object) -> Iterator[tuple[int, bytes]]:
    lines: list[bytes] = []
    number, length, after_blank = 0, 0, True
    while line := file.readline(_LONGEST_LINE):
        if after_blank and line.startswith(_SEPARATOR):
            if number:
                yield number, b"".join(lines)
            number, lines, length = number + 1, [], 0
        elif not number:
            raise ReadError(path, "is not a mailbox", "Give it the right file extension.")
        elif length <= LARGEST_MESSAGE:
            lines.append(line)
            length += len(line)
        after_blank = line in {b"\n", b"\r\n"}
    yield number, b"".join(lines)


def draft_mail(data: bytes, where: object) -> Draft:
    """Subject, text, sender and date of a message; `where` names it in error messages."""
    with file_errors(where, _DAMAGED, "Save it again from the mail program."):
        message = _parse(data, where)
        if not any(message.get(name) for name in ("From", "Date", "Subject", "Message-ID", "Received")):
            raise ReadError(where, "is not an e-mail: it has no sender, date or subject", "Check its extension.")
        if message.get_content_type() in _ENCRYPTED:
            raise ReadError(where, "is encrypted", "Save a copy that is not.")
        parts = list(_text_parts(message, where))
    draft = parts[0] if len(parts) == 1 else Draft()
    for part in parts if len(parts) != 1 else ():
        draft.extend(part)
    draft.title = _decoded(message.get("Subject")) or "(no subject)"
    sender: list[tuple[str, str]] = []
    with suppress(RecursionError):  # comments in comments
        sender = getaddresses([_decoded(message.get("From"))])
    date = ""
    with suppress(ValueError, TypeError, IndexError, OverflowError):
        date = parsedate_to_datetime(str(message.get("Date") or "")[:200]).isoformat()
    facts = bibliography([name or address for name, address in sender[:10]], [date])
    draft.metadata = facts | ({"date": date} if "year" in facts else {})
    return draft


def _parse(data: bytes, where: object) -> "EmailPart[str, str]":
    """A message with its parts, of which not too many may lie in each other."""
    if len(_MULTIPART.findall(data)) > _MOST_MULTIPARTS:
        raise TooDeep(f"more than {_MOST_MULTIPARTS} parts with parts")
    if any(len(found[0]) > _LONGEST_PARAMETERS for found in _PARAMETERS.finditer(data)):
        raise ReadError(where, _DAMAGED, "Save it again from the mail program.")
    try:
        return message_from_bytes(data)
    except (MessageError, TypeError, AttributeError) as error:
        raise ReadError(where, _DAMAGED, "Save it again from the mail program.") from error


def _decoded(header: object) -> str:
    """The text of a header; empty if it is missing."""
    raw = str(header or "")[:_LONGEST_HEADER]
    try:
        text = str(make_header(decode_header(raw)))
    except (MessageError, LookupError, ValueError):  # an encoding that nobody knows
        text = raw
    return " ".join(text.encode("utf-8", "replace").decode("utf-8").split())


def _text_parts(part: "EmailPart[str, str]", where: object) -> Iterator[Draft]:
    """The texts of a message, in order; of alternatives the plain one, if it says anything."""
    kind = part.get_content_type()
    if kind == "message/rfc822" and part.is_multipart():
        inner = part.get_payload(0)
        assert isinstance(inner, EmailPart)
        forwarded = Draft()
        forwarded.heading(_decoded(inner.get("Subject")))
        for inner_part in _text_parts(inner, where):
            forwarded.extend(inner_part)
        yield forwarded
    elif part.is_multipart():
        children = [child for child in part.get_payload() if isinstance(child, EmailPart)]
        if kind == "multipart/alternative":
            children.sort(key=lambda child: child.get_content_type() != "text/plain")
        for child in children:
            texts = list(_text_parts(child, where))
            yield from texts
            if texts and kind == "multipart/alternative":
                return
    elif _is_body(part) and (data := _content(part)).strip():
        text = decode(data, where, part.get_content_charset())
        draft = draft_html(text) if kind == "text/html" else draft_text(text)
        if draft.blocks:
            yield draft


def _is_body(part: "EmailPart[str, str]") -> bool:
    """Whether a part is text of the message, and not a file that is attached to it."""
    return part.get_content_type() in {"text/plain", "text/html"} and part.get_content_disposition() != "attachment"


def read_attachments(data: bytes, path: object, id: str) -> Iterator[Found]:
    """The documents attached to a message, with the ids `ID#NAME`; `path` names the message in sentences.

    Files that hold many documents are refused: an e-mail is unpacked once. So what is attached to an attached e-mail is
    left out.
    """
    readable: list[Attachment] = []
    others: list[str] = []
    for name, part in attachments(data, path):
        container = container_named(name)
        if container is not None and not container.is_document:
            problem = "is a file of many documents in an e-mail"
            yield ReadError(f"{path}#{name}", problem, "Save it, and index the file.")
        elif suffix_of(name):
            readable.append((name, part))
        else:
            others.append(name)
    if others:
        yield passed_over(path, others, "attachment")
    if readable:
        parts = ((name, map(_content, [part])) for name, part in readable)  # decoded when they are asked for
        yield from read_unpacked(parts, path, id, lambda file, name: Member(file).read(name), len(data))


def attachments(data: bytes, path: object) -> list[Attachment]:
    """The attached files of a message, and of those that it forwards; pictures within its text are none."""
    if not _FILE_NAME.search(data):  # most messages have none
        return []
    with file_errors(path, _DAMAGED, "Save it again from the mail program."):
        message = _parse(data, path)
        found: list[Attachment] = []
        unique_name = UniqueNames(numbered=_numbered)
        for part in message.walk():
            is_picture = part.get_content_disposition() == "inline" and part.get_content_maintype() == "image"
            if part.is_multipart() or _is_body(part) or is_picture:
                continue
            given = None
            with suppress(LookupError, ValueError, TypeError):
                given = part.get_filename()
            last = _decoded(given).replace("\\", "/").rsplit("/", 1)[-1]
            if name := "".join(c for c in last if c.isprintable()).strip()[-_LONGEST_NAME:]:
                found.append((unique_name(name), part))
            if len(found) > _MOST_ATTACHMENTS:
                raise ReadError(path, f"has more than {_MOST_ATTACHMENTS:,} attachments", "Save them as files.")
        return found


def _numbered(name: str, count: int) -> str:
    """The name with a number before its suffix.

    >>> _numbered("a.pdf", 2), _numbered("a", 2)
    ('a (2).pdf', 'a (2)')
    """
    stem, dot, suffix = name.rpartition(".")
    return f"{stem} ({count}){dot}{suffix}" if stem else f"{name} ({count})"


def attached_content(data: bytes, path: object, wanted: str, holder: str) -> bytes | None:
    """The bytes of the file `wanted` attached to a message, or to one of a mailbox, as the name of the holder says."""
    if holder.lower().endswith(".mbox"):
        number, _, wanted = wanted.partition("#")
        found = (message for n, message in _messages(BytesIO(data), path) if str(n) == number)
        data = _QUOTED_SEPARATOR.sub(rb"\1", next(found, b""))
    elif not holder.lower().endswith(".eml"):
        return None
    return next((_content(part) for name, part in attachments(data, path) if name == wanted), None)


def _content(part: "EmailPart[str, str]") -> bytes:
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""
