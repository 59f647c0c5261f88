"""A data folder's documents, numbered in the order of their file, and those nothing can be read from."""

import hashlib
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from longmatch.documents.document import Document
from longmatch.documents.jsonl import parse_line
from longmatch.documents.language import count_words
from longmatch.errors import ReadError
from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.datasets.records import iterate_lines
from longmatch.lab.evaluation.shuffle import shuffled
from longmatch.lab.store.documents import DocumentSource
from longmatch.lab.store.layer import Unreadable
from longmatch.parallel import parallel_map

SHUFFLED = "-shuffled"  # ends the name of a set whose sections are in random order


class Corpus:
    """The documents of a data folder. They are streamed; ids, numbers and lengths stay in memory.

    With a number for `shuffle`, the sections of each document stand in a random order drawn from it.
    """

    def __init__(self, folder: DataFolder, shuffle: int | None = None) -> None:
        self.folder, self.shuffle = folder, shuffle
        self.ids = folder.ids
        self.number = {id: i for i, id in enumerate(self.ids)}

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def name(self) -> str:
        """What the set is called in tables."""
        return self.folder.name + ("" if self.shuffle is None else SHUFFLED)

    @cached_property
    def order(self) -> npt.NDArray[np.int64]:
        """The place of each document among the ids in their order; ties of scores are broken by it."""
        order = np.empty(len(self), dtype=np.int64)
        order[np.argsort(np.array(self.ids, dtype=object), kind="stable")] = np.arange(len(self))
        return order

    @cached_property
    def titles(self) -> list[str]:
        """The title of each document; empty where it has none."""
        return [record.title for record in self.folder.records()]

    @cached_property
    def fingerprint(self) -> str:
        """Changes when the documents do."""
        with self.folder.documents_file.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()[:16]
        return digest if self.shuffle is None else f"{digest}-{self.shuffle}"

    @property
    def source(self) -> DocumentSource["_Line"]:
        """The documents for a store of what is derived from them."""
        return DocumentSource(self.name, self.fingerprint, self._lines, _read)

    def words(self, ids: Iterable[str]) -> dict[str, int]:
        """The lengths of these documents in words (Chinese and Japanese: characters)."""
        return {id: self._words[id] for id in dict.fromkeys(ids)}

    @cached_property
    def _words(self) -> dict[str, int]:
        return {r.id: sum(count_words(part.text) for part in r.parts) for r in self.folder.records()}

    def documents(self, ids: Iterable[str]) -> dict[str, Document]:
        """The documents of these ids, by id; unreadable ones are left out."""
        wanted = set(ids)
        every = parallel_map(_read, self._lines())
        return {d.id: d for d in every if isinstance(d, Document) and d.id in wanted}

    def _lines(self) -> Iterator["_Line"]:
        path = self.folder.documents_file
        lines = ((number, line) for number, line in iterate_lines(path) if line.strip())
        for id, (number, line) in zip(self.ids, lines, strict=True):
            yield _Line(id, number, line, path, self.shuffle)


class _Line(NamedTuple):
    """A document before it is read: a line of the documents file."""

    id: str
    number: int
    text: str
    path: Path
    shuffle: int | None


def _read(line: _Line) -> Document | Unreadable:
    try:
        document = parse_line(line.text.encode(), line.path, line.number)
    except ReadError as error:
        return Unreadable(line.id, str(error))
    assert document is not None
    return document if line.shuffle is None else shuffled(document, line.shuffle)
