"""What was read of documents, decoded and kept in memory between questions, within a limit."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

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
        """Decode a row; nothing of its table is kept."""
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
        self._most, self._held, self._version = most_bytes, 0, -1
        self._rows: OrderedDict[str, K] = OrderedDict()
        self._lock = Lock()

    @property
    def is_full(self) -> bool:
        """Whether what is kept next may displace what is kept now."""
        return self._held > 0.9 * self._most

    def get(self, ids: Sequence[str], version: int, make: Callable[[Sequence[str]], Sequence[K]]) -> list[K]:
        """The documents with these ids, in their order; unknown ids are skipped, and what is missing is made."""
        with self._lock:
            if version != self._version:
                self._rows.clear()
                self._held, self._version = 0, version
            known = {id: self._rows[id] for id in ids if id in self._rows}
            for id in known:
                self._rows.move_to_end(id)
        missing = [id for id in ids if id not in known]
        made = {row.id: row for row in make(missing)} if missing else {}
        with self._lock:
            if version == self._version:
                self._keep(made)
        found = known | made
        return [found[id] for id in ids if id in found]

    def _keep(self, rows: dict[str, K]) -> None:
        for id, row in rows.items():
            if id not in self._rows:
                self._rows[id] = row
                self._held += row.size
        while self._held > self._most and self._rows:
            _, oldest = self._rows.popitem(last=False)
            self._held -= oldest.size
