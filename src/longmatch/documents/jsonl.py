"""JSON Lines: one document a line, with sections or with plain text."""

import gzip
import json
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from longmatch.documents.checks import check_file, checked
from longmatch.documents.document import Document
from longmatch.documents.draft import Draft
from longmatch.errors import ReadError

_OWN_KEYS = {"id", "title", "sections", "text"}
_BLANK_LINE = re.compile(r"(?:\r?\n[ \t]*){2,}")
_SHAPE = "A line is an object with id, title and sections (a list of heading and text), or with text."


def iterate_jsonl(
    path: Path, on_error: Callable[[ReadError], None] | None = None, only: str | None = None
) -> Iterator[Document]:
    """The documents of a .jsonl, .jsonl.gz or .jsonl.xz file, one at a time.

    A document without an id gets the file's name and its line number as one: `cases-12`. A line that is no document
    raises ReadError, or goes to `on_error` and is left out. `only` is the id of the one document wanted.
    """
    empty = True
    for number, line in lines_of(path):
        empty = False
        try:
            document = document_of_line(line, path, number, only)
        except ReadError as error:
            if on_error is None:
                raise
            on_error(error)
        else:
            if document is not None:
                yield document
    if empty:
        raise ReadError(path, "is empty", "Leave it out, or put documents in it.")


def lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines that hold something, each with its number."""
    check_file(path)
    with _open(path) as file:
        lines = enumerate(file, start=1)
        while True:
            try:
                number, line = next(lines)
            except StopIteration:
                return
            except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
                raise ReadError(
                    path, "is damaged", "Its compressed content ends early or is wrong: get it again."
                ) from error
            line = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if line.strip():
                yield number, line


def _open(path: Path) -> IO[bytes]:
    openers: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open}
    opened: IO[bytes] = openers.get(path.suffix.lower(), Path.open)(path, "rb")
    return opened


def document_of_line(line: bytes, path: Path, number: int, only: str | None = None) -> Document | None:
    """The document of one line; None where another one is wanted."""
    where = f"{path}, line {number},"
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ReadError(where, "is not JSON", _SHAPE) from error
    if not isinstance(record, dict) or not ("sections" in record or "text" in record):
        raise ReadError(where, "is not a document", _SHAPE)
    id = str(record.get("id") or "") or f"{path.name.partition('.')[0]}-{number}"
    if only is not None and id != only:
        return None
    draft = Draft(metadata={key: value for key, value in record.items() if key not in _OWN_KEYS})
    for heading, text in _sections(record, where):
        draft.heading(heading)
        for paragraph in _BLANK_LINE.split(text):
            draft.paragraph(paragraph)
    return checked(draft.document(id, str(record.get("title") or ""), str(path)), where)


def _sections(record: dict[str, Any], where: str) -> Iterator[tuple[str, str]]:
    sections = record["sections"] if "sections" in record else [{"text": record["text"]}]
    for section in sections if isinstance(sections, list) else [None]:
        heading, text = (
            (section.get("heading") or "", section.get("text") or "") if isinstance(section, dict) else (0, 0)
        )
        if not isinstance(heading, str) or not isinstance(text, str):
            raise ReadError(where, "has a section that is not an object with heading and text", _SHAPE)
        yield heading, text
