"""JSON Lines: one document per line, with sections or with plain text."""

import gzip
import json
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longmatch.documents.archive import rooms, take
from longmatch.documents.checks import LARGEST_FILE, check_document, check_file, too_large
from longmatch.documents.containers import Found, Member
from longmatch.documents.decoding import whole
from longmatch.documents.document import Document
from longmatch.documents.draft import Draft
from longmatch.documents.metadata import with_bibliography
from longmatch.errors import ReadError

_DOCUMENT_KEYS = {"id", "title", "sections", "text"}
LONGEST_LINE = LARGEST_FILE  # bytes
LARGEST_UNPACKED, LARGEST_RATIO = 1_000_000_000, 100  # a compressed file unpacks to this, and this times its size
_BLANK_LINE = re.compile(r"\n[ \t]*(?:\r?\n[ \t]*)+")  # begins with what is looked for fast; paragraphs are stripped
_FORMAT = "Each line is an object with id, title and either text or sections (a list of heading and text)."


@dataclass(frozen=True)
class Line(Member):
    """A line of a JSON Lines file, by its number; its document is called as the line says."""

    data: bytes = b""

    def documents(self, id: str) -> Iterator[Found]:
        """Parse it."""
        yield parse_line(self.data, self.path, int(self.name))

    def may_hold(self, wanted: str) -> bool:
        """Whether it names this id, or is no document at all."""
        try:
            return _id_of(_record(self.data, ""), self.path, int(self.name)) == wanted
        except ReadError:
            return True


def jsonl_members(path: Path) -> Iterator[Line]:
    """The lines of a .jsonl, .jsonl.gz or .jsonl.xz file."""
    number = 0
    for number, line in numbered_lines(path):
        yield Line(path, str(number), len(line), line)
    if not number:
        raise ReadError(path, "is empty", "Leave it out, or put documents in it.")


def iterate_jsonl(path: Path, on_error: Callable[[ReadError], None] | None = None) -> Iterator[Document]:
    """Yield the documents of a .jsonl, .jsonl.gz or .jsonl.xz file, one at a time.

    A document without an id gets the file's name and its line number, as `cases-12`. An invalid line raises
    ReadError or, with `on_error`, is passed to it and skipped.
    """
    for line in jsonl_members(path):
        try:
            yield parse_line(line.data, path, int(line.name))
        except ReadError as error:
            if on_error is None:
                raise
            on_error(error)


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the non-blank lines of a file with their line numbers, from 1; of one that is too long, its beginning."""
    size = check_file(path).st_size
    left = () if path.suffix.lower() == ".jsonl" else rooms(LARGEST_UNPACKED + LARGEST_RATIO * size)
    number, goes_on = 1, False
    opener: Any = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix.lower(), Path.open)
    with opener(path, "rb") as file:
        while True:
            try:
                line = file.readline(LONGEST_LINE + 1)
            except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
                raise ReadError(path, "is damaged", "Its compressed data is corrupt; get a fresh copy.") from error
            if not line:
                return
            if not take(left, len(line)):
                raise ReadError(path, "unpacks to a huge size", "It is not an ordinary collection; leave it out.")
            line = line.removeprefix(b"\xef\xbb\xbf") if number == 1 and not goes_on else line
            if not goes_on and (len(line) > LONGEST_LINE or not line.isspace()):
                yield number, line
            goes_on = not line.endswith(b"\n")
            number += not goes_on


def parse_line(line: bytes, path: Path, number: int) -> Document:
    """Parse line `number` of `path` into a document."""
    where = f"{path}, line {number},"
    record = _record(line, where)
    metadata = {key: value for key, value in record.items() if key not in _DOCUMENT_KEYS}
    draft = Draft(metadata=with_bibliography(metadata))
    given = "sections" in record
    sections = record["sections"] if given else [{"text": record["text"]}]
    for section in sections if isinstance(sections, list) else [None]:
        heading, text = None, None
        if isinstance(section, dict):
            heading, text = section.get("heading") or "", section.get("text") or ""
        if not isinstance(heading, str) or not isinstance(text, str):
            raise ReadError(where, "has a section that is not an object with heading and text", _FORMAT)
        draft.heading(heading)
        for paragraph in _BLANK_LINE.split(text):
            draft.paragraph(paragraph)
    title = str(record.get("title") or "")
    document = draft.document(_id_of(record, path, number), title, str(path), given_sections=given)
    return check_document(document, where)


def _record(line: bytes, where: str) -> dict[str, Any]:
    if len(line) > LONGEST_LINE:
        raise too_large(where)
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ReadError(where, "is not JSON", _FORMAT) from error
    if not isinstance(record, dict) or not ("sections" in record or "text" in record):
        raise ReadError(where, "is not a document", _FORMAT)
    return record


def _id_of(record: dict[str, Any], path: Path, number: int) -> str:
    return whole(str(record.get("id") or "")) or f"{path.name.partition('.')[0]}-{number}"
