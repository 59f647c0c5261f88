"""What was read of documents, decoded and kept in memory between questions, within a limit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from cachetools import LRUCache

from longmatch.library.rows import DocumentRow, unpack_vectors
from longmatch.matching.levels import SentenceVectors


@dataclass(frozen=True)
class StoredSentences:
    """The sentence vectors of a document, which are unpacked when they are asked for."""

    id: str
    vectors: npt.NDArray[Any]  # as stored
    expectations: npt.NDArray[Any]  # as stored

    @staticmethod
    def of(row: DocumentRow) -> "StoredSentences":
        """Decode a row, or make its vectors; nothing of its table is kept."""
        if row.tokens() is not None:
            made = row.sentence_vectors()
            return StoredSentences(row.id, made.vectors.astype(np.float16).ravel(), made.expectations)
        return StoredSentences(row.id, row.array("vectors").copy(), row.expectations().copy())

    def __len__(self) -> int:
        return len(self.expectations)

    def unpacked(self) -> SentenceVectors:
        """The sentence vectors with their expectations by chance."""
        return SentenceVectors(
            unpack_vectors(self.vectors, len(self.expectations)), self.expectations.astype(np.float32)
        )

    @staticmethod
    def unpack(documents: Sequence["StoredSentences"]) -> SentenceVectors:
        """Those of several documents, one after another: at once where all are stored alike."""
        if len({document.vectors.dtype for document in documents}) > 1:
            return SentenceVectors.cat([document.unpacked() for document in documents])
        vectors, expectations = (
            np.concatenate([getattr(document, name) for document in documents]) for name in ("vectors", "expectations")
        )
        return StoredSentences("", vectors, expectations).unpacked()

    @property
    def size(self) -> int:
        """Bytes."""
        return int(self.vectors.nbytes + self.expectations.nbytes)


class Kept(Protocol):
    """Something made of a document."""

    @property
    def id(self) -> str:
        """The document's id."""

    @property
    def size(self) -> int:
        """Bytes."""


K = TypeVar("K", bound=Kept)


class RowCache(Generic[K]):
    """What was made of the documents asked for last, in one version of a store."""

    def __init__(self, most_bytes: int) -> None:
        self._rows: LRUCache[str, K] = LRUCache(most_bytes, lambda row: row.size)
        self._version = -1
        self._lock = Lock()

    @property
    def is_full(self) -> bool:
        """Whether what is kept next may displace what is kept now."""
        return self._rows.currsize > 0.9 * self._rows.maxsize

    def get(self, ids: Sequence[str], version: int, make: Callable[[Sequence[str]], Sequence[K]]) -> list[K]:
        """The documents with these ids, in their order; unknown ids are skipped, and what is missing is made."""
        with self._lock:
            if version != self._version:
                self._rows.clear()
                self._version = version
            known = {id: self._rows[id] for id in ids if id in self._rows}
        missing = [id for id in ids if id not in known]
        made = {row.id: row for row in make(missing)} if missing else {}
        with self._lock:
            if version == self._version:
                self._rows.update((id, row) for id, row in made.items() if row.size <= self._rows.maxsize)
        found = known | made
        return [found[id] for id in ids if id in found]
