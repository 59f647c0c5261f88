"""E-mail: the text of a message under its subject; mailboxes (mbox) hold many. `attachments.py` reads the rest."""

import re
from collections.abc import Iterator
from contextlib import suppress
from email import message_from_bytes
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.utils import getaddresses, parsedate_to_datetime
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from longmatch.documents.archive import file_errors
from longmatch.documents.checks import LARGEST_FILE, check_document, check_file
from longmatch.documents.decoding import decode, read_bytes
from longmatch.documents.document import Document
from longmatch.documents.draft import Draft
from longmatch.documents.html import draft_html
from longmatch.documents.metadata import bibliography
from longmatch.documents.safe_xml import TooDeep
from longmatch.documents.text import draft_text
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
DAMAGED = "is damaged or not an e-mail"


def read_mail(path: Path) -> Draft:
    """Read one message."""
    return draft_mail(read_bytes(path), path)


def numbered_messages(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the messages of a mailbox with their numbers, from 1; of one that is too large, its beginning."""
    check_file(path)
    try:
        with path.open("rb") as file:
            yield from _messages(file, path)
    except OSError as error:
        raise ReadError(path, f"cannot be read ({error.strerror})", "Check its permissions.") from error


def split_messages(data: bytes, path: object) -> Iterator[tuple[int, bytes]]:
    """The same of a mailbox in memory."""
    return _messages(BytesIO(data), path)


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


def unquoted(data: bytes) -> bytes:
    """A message of a mailbox as it was sent."""
    return _QUOTED_SEPARATOR.sub(rb"\1", data)


def parse_message(data: bytes, path: Path, number: int, id: str) -> Document:
    """Message `number` of the mailbox `path` as a document; `id` is that of the mailbox."""
    where = f"{path}, message {number},"
    if len(data) > LARGEST_MESSAGE:
        raise ReadError(where, "is too large for an e-mail", "Save its text alone.")
    draft = draft_mail(unquoted(data), where)
    return check_document(draft.document(f"{id}#{number}", source=str(path)), where)


def draft_mail(data: bytes, where: object) -> Draft:
    """Subject, text, sender and date of a message; `where` names it in error messages."""
    with file_errors(where, DAMAGED, "Save it again from the mail program."):
        message = parse(data, where)
        if not any(message.get(name) for name in ("From", "Date", "Subject", "Message-ID", "Received")):
            raise ReadError(where, "is not an e-mail: it has no sender, date or subject", "Check its extension.")
        if message.get_content_type() in _ENCRYPTED:
            raise ReadError(where, "is encrypted", "Save a copy that is not.")
        parts = list(_text_parts(message, where))
    draft = parts[0] if len(parts) == 1 else Draft()
    if len(parts) != 1:
        for part in parts:
            draft.extend(part)
    draft.title = header(message, "Subject") or "(no subject)"
    draft.metadata = _metadata(message)
    return draft


def parse(data: bytes, where: object) -> "Message[str, str]":
    """A message with its parts, of which not too many may lie in each other."""
    if len(_MULTIPART.findall(data)) > _MOST_MULTIPARTS:
        raise TooDeep(f"more than {_MOST_MULTIPARTS} parts with parts")
    if any(len(found[0]) > _LONGEST_PARAMETERS for found in _PARAMETERS.finditer(data)):
        raise ReadError(where, DAMAGED, "Save it again from the mail program.")
    try:
        return message_from_bytes(data)
    except (MessageError, TypeError, AttributeError) as error:
        raise ReadError(where, DAMAGED, "Save it again from the mail program.") from error


def header(message: "Message[str, str]", name: str) -> str:
    """A header, decoded; empty if it is missing."""
    return decoded_header(str(message.get(name) or ""))


def decoded_header(raw: str) -> str:
    """The text of a header."""
    raw = raw[:_LONGEST_HEADER]
    try:
        text = str(make_header(decode_header(raw)))
    except (MessageError, LookupError, ValueError):  # an encoding that nobody knows
        text = raw
    return " ".join(text.encode("utf-8", "replace").decode("utf-8").split())


def _metadata(message: "Message[str, str]") -> dict[str, Any]:
    sender: list[tuple[str, str]] = []
    with suppress(RecursionError):  # comments in comments
        sender = getaddresses([header(message, "From")])
    date = ""
    with suppress(ValueError, TypeError, IndexError, OverflowError):
        date = parsedate_to_datetime(str(message.get("Date") or "")[:200]).isoformat()
    facts = bibliography([name or address for name, address in sender[:10]], [date])
    return facts | ({"date": date} if "year" in facts else {})


def _text_parts(part: "Message[str, str]", where: object) -> Iterator[Draft]:
    """The texts of a message, in order; of alternatives the plain one, if it says anything."""
    kind = part.get_content_type()
    if kind == "message/rfc822" and part.is_multipart():
        inner = part.get_payload(0)
        assert isinstance(inner, Message)
        subject = header(inner, "Subject")
        forwarded = Draft()
        forwarded.heading(subject)
        for text in _text_parts(inner, where):
            forwarded.extend(text)
        yield forwarded
    elif part.is_multipart():
        children = [child for child in part.get_payload() if isinstance(child, Message)]
        if kind == "multipart/alternative":
            children.sort(key=lambda child: child.get_content_type() != "text/plain")
        for child in children:
            texts = list(_text_parts(child, where))
            yield from texts
            if texts and kind == "multipart/alternative":
                return
    elif is_body(part):
        yield from _text(part, kind == "text/html", where)


def is_body(part: "Message[str, str]") -> bool:
    """Whether a part is text of the message, and not a file that is attached to it."""
    return part.get_content_type() in {"text/plain", "text/html"} and part.get_content_disposition() != "attachment"


def _text(part: "Message[str, str]", is_html: bool, where: object) -> Iterator[Draft]:
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes) or not data.strip():
        return
    text = decode(data, where, part.get_content_charset())
    draft = draft_html(text) if is_html else draft_text(text)
    if draft.blocks:
        yield draft
