"""The rows of a data set on disk: documents as JSON lines, labels as tab-separated lines."""

import bz2
import gzip
import json
import lzma
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, cast

from longmatch.errors import ReadError

Split = Literal["train", "validation", "test"]

SPLITS: tuple[Split, ...] = ("train", "validation", "test")


class Part(NamedTuple):
    """A section as it lies on disk: a heading and text whose paragraphs are parted by blank lines."""

    heading: str
    text: str


class Pair(NamedTuple):
    """Two documents and whether they belong together: 1 or 0."""

    split: Split
    source: str
    target: str
    label: int


class Judgement(NamedTuple):
    """How relevant a document is to a query document: 0 is not at all."""

    split: Split
    query: str
    document: str
    grade: int


@dataclass(frozen=True, slots=True)
class Record:
    """A document in the common form, before its sentences are split.

    >>> record = Record("a", "A title", (Part("Introduction", "One.\\n\\nTwo words."),))
    >>> record.words, Record.from_line(record.line()) == record
    (3, True)
    """

    id: str
    title: str
    parts: tuple[Part, ...]
    language: str = ""  # only where the source states it

    @property
    def words(self) -> int:
        """How many words the sections have, counted at white space."""
        return sum(len(part.text.split()) for part in self.parts)

    def line(self) -> str:
        """The document as one JSON line, without the line end."""
        fields: dict[str, Any] = {
            "id": self.id,
            "title": self.title,
            "sections": [{"heading": part.heading, "text": part.text} for part in self.parts],
        }
        if self.language:
            fields["language"] = self.language
        return json.dumps(fields, ensure_ascii=False)

    @classmethod
    def from_line(cls, line: str) -> "Record":
        """Read one JSON line; ValueError says what is missing."""
        fields = json.loads(line)
        if not isinstance(fields, dict) or not isinstance(fields.get("id"), str | int):
            raise ValueError("has no id")
        sections = fields["sections"] if "sections" in fields else [{"text": fields.get("text")}]
        try:
            parts = tuple(Part(str(s.get("heading") or ""), str(s["text"] or "")) for s in sections)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError("has no sections with a text each") from error
        return cls(str(fields["id"]), fields.get("title") or "", parts, fields.get("language") or "")


def open_binary(path: Path) -> BinaryIO:
    """Open a file for reading; .xz, .gz and .bz2 are unpacked on the way."""
    if path.suffix == ".xz":
        return cast(BinaryIO, lzma.open(path, "rb"))
    if path.suffix == ".gz":
        return cast(BinaryIO, gzip.open(path, "rb"))
    if path.suffix == ".bz2":
        return cast(BinaryIO, bz2.open(path, "rb"))
    return path.open("rb")


def iterate_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a UTF-8 text file, counted from 1, without line ends; also of a packed file."""
    number = 0
    try:
        with open_binary(path) as stream:
            for number, raw in enumerate(stream, 1):
                yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ReadError(path, f"is not UTF-8 text (line {number})", "Convert it first.") from error
    except (EOFError, lzma.LZMAError, zlib.error, OSError) as error:
        raise ReadError(path, f"cannot be read ({error})", "Fetch or unpack it again.") from error


def iterate_records(path: Path) -> Iterator[Record]:
    """The documents of a .jsonl, .jsonl.gz or .jsonl.xz file, one at a time."""
    for number, line in iterate_lines(path):
        if not line.strip():
            continue
        try:
            yield Record.from_line(line)
        except ValueError as error:
            problem = "is not JSON" if isinstance(error, json.JSONDecodeError) else str(error)
            raise ReadError(path, f"line {number} {problem}", "Each line is one document.") from error


def read_table(path: Path, columns: tuple[str, ...]) -> list[list[str]]:
    """The rows of a tab-separated file whose first line names the columns."""
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
