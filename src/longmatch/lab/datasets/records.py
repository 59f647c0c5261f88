"""The records of a data set on disk: documents as JSON Lines, labels as tab-separated values."""

import bz2
import gzip
import json
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, cast

from longmatch.errors import ReadError

Split = Literal["train", "validation", "test"]

SPLITS: tuple[Split, ...] = ("train", "validation", "test")
_callback: ContextVar[Callable[[str, int], None] | None] = ContextVar("callback", default=None)


class Part(NamedTuple):
    """A section as stored on disk: a heading, and text whose paragraphs are separated by blank lines."""

    heading: str
    text: str


class Pair(NamedTuple):
    """Two documents and whether they match: 1 or 0."""

    split: Split
    source: str
    target: str
    label: int


class Judgement(NamedTuple):
    """How relevant a document is to a query document; grade 0 is not relevant."""

    split: Split
    query: str
    document: str
    grade: int


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A document in the common format, before sentence splitting.

    >>> record = RawDocument("a", "A title", (Part("Introduction", "One.\\n\\nTwo words."),))
    >>> record.words, RawDocument.from_line(record.line()) == record
    (3, True)
    """

    id: str
    title: str
    parts: tuple[Part, ...]
    language: str = ""  # if the source states it

    @property
    def words(self) -> int:
        """Number of words of the sections, split at white space."""
        return sum(len(part.text.split()) for part in self.parts)

    def line(self) -> str:
        """The document as one line of JSON, without the line break."""
        fields: dict[str, Any] = {
            "id": self.id,
            "title": self.title,
            "sections": [{"heading": part.heading, "text": part.text} for part in self.parts],
        }
        if self.language:
            fields["language"] = self.language
        return json.dumps(fields, ensure_ascii=False)

    @classmethod
    def from_line(cls, line: str) -> "RawDocument":
        """Parse one line of JSON; raise ValueError if the id or the sections are missing."""
        fields = json.loads(line)
        if not isinstance(fields, dict) or not isinstance(fields.get("id"), str | int):
            raise ValueError("has no id")
        sections = fields["sections"] if "sections" in fields else [{"text": fields.get("text")}]
        try:
            parts = tuple(Part(str(s.get("heading") or ""), str(s["text"] or "")) for s in sections)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError("has a section without text") from error
        return cls(str(fields["id"]), fields.get("title") or "", parts, fields.get("language") or "")


def open_binary(path: Path) -> BinaryIO:
    """Open a file for reading; .xz, .gz and .bz2 files are decompressed."""
    if path.suffix == ".xz":
        return cast(BinaryIO, lzma.open(path, "rb"))
    if path.suffix == ".gz":
        return cast(BinaryIO, gzip.open(path, "rb"))
    if path.suffix == ".bz2":
        return cast(BinaryIO, bz2.open(path, "rb"))
    return path.open("rb")


def iterate_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a UTF-8 text file, possibly compressed, numbered from 1, without line breaks."""
    number = 0
    try:
        with open_binary(path) as stream:
            for number, raw in enumerate(stream, 1):
                yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ReadError(path, f"is not UTF-8 text (line {number})", "Convert it first.") from error
    except (EOFError, lzma.LZMAError, zlib.error, OSError) as error:
        raise ReadError(path, f"cannot be read ({error})", "Fetch or unpack it again.") from error


def iterate_records(path: Path) -> Iterator[RawDocument]:
    """The documents of a .jsonl, .jsonl.gz or .jsonl.xz file, one at a time."""
    for number, line in iterate_lines(path):
        if not line.strip():
            continue
        try:
            yield RawDocument.from_line(line)
        except ValueError as error:
            problem = "is not JSON" if isinstance(error, json.JSONDecodeError) else str(error)
            raise ReadError(path, f"line {number} {problem}", "Each line is one document.") from error


def read_table(path: Path, columns: tuple[str, ...]) -> list[list[str]]:
    """The rows of a tab-separated file whose header is `columns`."""
    rows: list[list[str]] = []
    for number, line in iterate_lines(path):
        cells = line.split("\t")
        if number == 1:
            if cells != list(columns):
                raise ReadError(path, f"does not start with the columns {', '.join(columns)}", "Add that first line.")
        elif line:
            if len(cells) != len(columns):
                raise ReadError(path, f"line {number} has {len(cells)} columns", f"It needs {len(columns)}.")
            rows.append(cells)
    return rows


def parse_object(text: str | bytes, path: Path, number: int = 1) -> dict[str, Any]:
    """Parse a JSON object; `path` and the line `number` are for error messages."""
    try:
        content = json.loads(text)
    except ValueError as error:
        raise ReadError(path, f"line {number} is not JSON", "Fetch it again.") from error
    if not isinstance(content, dict):
        raise ReadError(path, f"line {number} is not a JSON object", "Fetch it again.")
    return content


@contextmanager
def on_progress(callback: Callable[[str, int], None]) -> Iterator[None]:
    """Call `callback(what, count)` for every report inside the block.

    >>> with on_progress(lambda what, count: print(count, what)):
    ...     report("pages read", 3)
    3 pages read
    """
    token = _callback.set(callback)
    try:
        yield
    finally:
        _callback.reset(token)


def report(what: str, count: int) -> None:
    """Report that `count` of `what` are done."""
    callback = _callback.get()
    if callback is not None:
        callback(what, count)
