"""What was read of documents, decoded and kept in memory between questions, within a limit."""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Generic, Protocol, TypeVar

from cachetools import LRUCache


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
