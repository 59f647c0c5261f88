"""A data folder's documents, numbered in the order of their file, and those nothing can be read from."""

import hashlib
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from longmatch.documents.document import Document
from longmatch.documents.jsonl import parse_line
from longmatch.documents.language import count_words
from longmatch.errors import ReadError
from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.datasets.records import iterate_lines
from longmatch.lab.evaluation.shuffle import shuffled
from longmatch.parallel import parallel_map

CHARACTERS = 4_000_000  # of text in a shard
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

    def shards(self) -> Iterator[list[tuple[int, Document | ReadError]]]:
        """All documents in runs of about CHARACTERS, each with its number; an unreadable one with what was wrong."""
        shard: list[tuple[int, Document | ReadError]] = []
        size = 0
        for number, document in enumerate(self._each()):
            length = len(document.text) if isinstance(document, Document) else 0
            if shard and size + length > CHARACTERS:
                yield shard
                shard, size = [], 0
            shard.append((number, document))
            size += length
        if shard:
            yield shard

    def words(self, ids: Iterable[str]) -> dict[str, int]:
        """The lengths of these documents in words (Chinese and Japanese: characters)."""
        return {id: self._words[id] for id in dict.fromkeys(ids)}

    @cached_property
    def _words(self) -> dict[str, int]:
        return {r.id: sum(count_words(part.text) for part in r.parts) for r in self.folder.records()}

    def documents(self, ids: Iterable[str]) -> dict[str, Document]:
        """The documents of these ids, by id; unreadable ones are left out."""
        wanted = set(ids)
        found = (document for document in self._each() if isinstance(document, Document))
        return {document.id: document for document in found if document.id in wanted}

    def _each(self) -> Iterator[Document | ReadError]:
        """One entry a line of the file, whether it can be read or not."""
        path = self.folder.documents_file
        lines = ((number, line, path, self.shuffle) for number, line in iterate_lines(path) if line.strip())
        return parallel_map(_read, lines)


def _read(found: tuple[int, str, Path, int | None]) -> Document | ReadError:
    number, line, path, shuffle = found
    try:
        document = parse_line(line.encode(), path, number)
    except ReadError as error:
        return error
    assert document is not None
    return document if shuffle is None else shuffled(document, shuffle)
