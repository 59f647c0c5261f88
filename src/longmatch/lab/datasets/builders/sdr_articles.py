"""SDR's two sets, video games and wines, with similar articles chosen by an expert (SDR section 4.1).

Reads the articles and labels released by the authors:

    video_games.txt / wines.txt, or raw_data    CSV with a header line: the title, then the sections as the source of a
                                                Python list of (heading, text)
    gt                                          a pickle: {title: {similar title: how often it was named}}

Rule: every query is a test query (there are no training labels); an article listed as similar to itself is dropped.
HTML entities in titles are decoded. The pickle may contain only plain containers.
"""

import ast
import csv
import html
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from longmatch.errors import ReadError
from longmatch.lab.datasets.raw_files import open_raw
from longmatch.lab.datasets.records import Part, RawDocument
from longmatch.lab.datasets.sections import clean_parts, collapse_spaces, normalise_paragraphs
from longmatch.lab.datasets.writer import CollectionWriter, Summary

_PLAIN = {
    (module, name)
    for module, names in {
        "builtins": ("dict", "list", "set", "frozenset", "tuple", "str", "int", "float", "bool"),
        "collections": ("OrderedDict", "Counter", "defaultdict"),
    }.items()
    for name in names
}


def build(raw: Path, out: Path, *, variant: str) -> Summary:
    """Build the set `variant`: video_games or wines."""
    with open_raw(raw) as files, CollectionWriter(out) as writer:
        labels = files.find(f"{variant}/gt") or files.require("gt")
        table = files.find(f"{variant}.txt", f"{variant}/raw_data") or files.require("raw_data", f"{variant}.txt")
        for title, parts in _articles(table[0]):
            writer.add(RawDocument(title, title, parts))
        similar = read_plain_pickle(labels[0])
        if not isinstance(similar, dict) or not all(isinstance(row, dict) for row in similar.values()):
            raise ReadError(labels[0], "does not hold titles with their similar titles", "Fetch it again.")
        for query, titles in similar.items():
            for title in titles:
                if _title(query) != _title(title):
                    writer.judge("test", _title(query), _title(title))
        return writer.finish()


def _title(text: object) -> str:
    return html.unescape(collapse_spaces(str(text)))


def _articles(path: Path) -> Iterator[tuple[str, tuple[Part, ...]]]:
    limit = csv.field_size_limit(sys.maxsize)
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        try:
            next(reader, None)
            for row in reader:
                if len(row) < 2:
                    raise ReadError(path, f"line {reader.line_num} has no sections", "Fetch it again.")
                yield _title(row[0]), _parts(row[1], path, row[0])
        except csv.Error as error:
            raise ReadError(path, f"is not CSV ({error}, line {reader.line_num})", "Fetch it again.") from error
        finally:
            csv.field_size_limit(limit)


def _parts(text: str, path: Path, title: str) -> tuple[Part, ...]:
    try:
        rows = ast.literal_eval(text)
        return clean_parts(Part(str(row[0] or ""), normalise_paragraphs(str(row[1]))) for row in rows)
    except (ValueError, SyntaxError, TypeError, IndexError, MemoryError, RecursionError) as error:
        raise ReadError(path, f"has sections that cannot be read ({title})", "Fetch it again.") from error


class _PlainUnpickler(pickle.Unpickler):
    """Knows only plain containers, so that a pickle cannot call anything."""

    def __init__(self, stream: BinaryIO, name: object) -> None:
        super().__init__(stream)
        self._name = name

    def find_class(self, module: str, name: str) -> Any:
        if module == "__builtin__":  # Python 2
            module, name = "builtins", {"long": "int", "unicode": "str"}.get(name, name)
        if (module, name) not in _PLAIN:
            raise ReadError(self._name, f"is a pickle that asks for {module}.{name}", "Do not trust it.")
        return super().find_class(module, name)

    def persistent_load(self, pid: Any) -> Any:
        raise ReadError(self._name, "is a pickle that refers to something outside it", "Do not trust it.")


def read_plain_pickle(path: Path, max_size: int = 1 << 26) -> Any:
    """Load a pickle of plain containers, strings and numbers of at most `max_size` bytes."""
    if path.stat().st_size > max_size:
        raise ReadError(path, f"is larger than {max_size:,} bytes", "A label file is small; do not trust it.")
    with path.open("rb") as stream:
        try:
            return _PlainUnpickler(stream, path).load()
        except (pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError, IndexError, KeyError) as error:
            raise ReadError(path, f"is not a readable pickle ({error})", "Fetch it again.") from error
        except (MemoryError, OverflowError, RecursionError):
            raise ReadError(path, "is a pickle that cannot be held in memory", "Do not trust it.") from None
