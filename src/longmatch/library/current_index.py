"""The index that covers a store as it is now: opened, brought up to date, or made beside a read-only library."""

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from longmatch.default.statistics import Statistics
from longmatch.library.errors import LibraryError
from longmatch.library.index.index import Index
from longmatch.library.model import background_digest
from longmatch.library.storage_errors import storage_errors
from longmatch.library.store import Store
from longmatch.library.writer import try_write_lock, update_index

INDEX = "index"


@dataclass(frozen=True)
class CurrentIndex:
    """The index of a store, in a folder of the library."""

    store: Store
    folder: Path  # of the library, or of its index where the library is in object storage
    statistics: Statistics
    keeps_records: bool

    def open(self, recheck: bool = False) -> Index:
        """As it lies on disk, perhaps behind the store."""
        background = background_digest(self.statistics.sentences) + self.statistics.terms.digest
        made_by = f"{background}{self.statistics.prior}{self.store.model.to_json()}{self.store.lacks_columns}"
        fingerprint = sha256(made_by.encode()).hexdigest()[:16]
        return Index.open(
            self.folder / INDEX, self.statistics, fingerprint, keeps_records=self.keeps_records, recheck=recheck
        )

    def updated(self) -> Index:
        """Brought up to date; needs the lock."""
        self.store.refresh()
        index = self.open(recheck=True)
        if index.version != self.store.version or index.is_stale:
            update_index(index, self.store)
        return index

    def covering(self, scratch: Callable[[], Path]) -> Index:
        """One that covers the store's version, finished should the process that wrote it have been killed.

        Where the library cannot be written it is made in a folder that `scratch` makes.
        """
        index = self.open()
        if index.version > self.store.version:  # another process has committed since the store was refreshed
            self.store.refresh()
        if index.version == self.store.version and not index.is_stale:
            return index
        with try_write_lock(self.folder) as lock:
            if lock == "busy" and index.segments:
                return index  # as far as the other process has come
            if lock == "locked":
                with suppress(LibraryError):
                    self.store.tidy(sys.maxsize)  # a writer that was killed left no full-text index
                with suppress(OSError):  # a full disk, for example
                    index = self.updated()
                    index.save(self.store.version)
                    return index
        index = self.open()
        index.folder, index.keeps_records = scratch(), False
        with storage_errors(self.store.address):
            update_index(index, self.store)
        return index
