"""Changes to a library, by one writer at a time: first the store, in one commit, then the index derived from it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import pyarrow as pa
from filelock import FileLock, Timeout

from longmatch.default.collection import sampled_unrelated
from longmatch.default.matcher import HybridMatcher
from longmatch.default.unrelated import drawn_documents
from longmatch.documents.document import Document
from longmatch.library.errors import LibraryError
from longmatch.library.index.index import BATCH, Index
from longmatch.library.rows import ENCODING_COLUMNS, DocumentRow, rows_of, to_table
from longmatch.library.storage_errors import storage_errors
from longmatch.library.store import Store
from longmatch.matching.sentence_vectors import title_vectors
from longmatch.ragged import Array
from longmatch.units import Tokens

LOCK = "writer.lock"
UNFINISHED = (".*.json.*", "index/.*.json.*", "*.lance/**/.tmp*")  # files being written, by `replace_text` and by Lance
POLL = 0.2  # seconds between tries for a lock that another process has


class Writer:
    """Changes the store and keeps the index in step."""

    def __init__(self, store: Store, index: Index, matcher: Callable[[], HybridMatcher]) -> None:
        self.store, self.index, self._matcher = store, index, matcher

    def tokenize(self, documents: Sequence[Document]) -> list[Tokens]:
        """The tokens of documents: step one of three."""
        return self._matcher().tokenize(documents)

    def encode(
        self, documents: Sequence[Tokens], on_documents: Callable[[int], None], on_tokens: Callable[[int], None]
    ) -> pa.Table:
        """Rows for the store: step two. The callbacks get the numbers of documents and of tokens just encoded."""
        return to_table(self._matcher().encode_tokens(documents, on_documents, on_tokens), self.store.model.vectors)

    def encode_title(self, title: str) -> Array:
        """The vector of a title."""
        return title_vectors([title], self._matcher().backbone)[0]

    def put(self, rows: pa.Table) -> None:
        """Store and index documents, replacing those with the same ids: step three."""
        stored = rows_of(self.store.put(rows))
        with storage_errors(self.store.address):
            self.index.remove([row.id for row in stored])
            self.index.add(stored)
            self._save_index()

    def remove(self, ids: Sequence[str]) -> None:
        """Remove documents."""
        self.store.delete(ids)
        with storage_errors(self.store.address):
            self.index.remove(ids)
            self._save_index()

    def follow(self, commit: Callable[[], None], removed: Sequence[str]) -> None:
        """Run `commit`, which changes the store and removes the ids `removed`, and update the index after it."""
        self.index.remove(removed)
        commit()
        with storage_errors(self.store.address):
            update_index(self.index, self.store)
            self.index.save(self.store.version)

    def finish(self, exact_below: int) -> None:
        """Compact the store and the index, and recompute norms that are out of date."""
        self.store.tidy(exact_below)
        with storage_errors(self.store.address):
            if self.index.is_stale:
                self.index.merge()
                self.index.refresh_norms()
                refresh_unrelated(self.index, self.store)
            self._save_index()

    def _save_index(self) -> None:
        """Save the index, with what other machines have changed in the store meanwhile."""
        if self.store.is_shared:
            update_index(self.index, self.store)
        self.index.save(self.store.version)


def refresh_unrelated(index: Index, store: Store) -> None:
    """See again what unrelated documents have in common, by random ones."""
    ids = sorted(index.roster.rows)
    drawn = [ids[i] for i in drawn_documents(len(ids))]
    encodings = [row.encoding() for row in store.fetch(drawn, ENCODING_COLUMNS)]
    index.unrelated = sampled_unrelated(encodings, index.rarity, index.statistics, len(ids))


def update_index(index: Index, store: Store) -> None:
    """Remove from the index what the store no longer has, or has with another text, and add what it lacks."""
    listed = store.read(["id", "hash"])
    stored = dict(zip(listed["id"].to_pylist(), listed["hash"].to_pylist(), strict=True))
    indexed = index.content_hashes()
    index.remove([id for id, hash in indexed.items() if stored.get(id) != hash])
    missing = [id for id, hash in stored.items() if indexed.get(id) != hash]
    for rows in _fetch_or_scan(store, index.columns, missing, len(stored)):
        index.add(rows)
    if index.is_stale:
        index.merge()
        index.refresh_norms()
        refresh_unrelated(index, store)
    index.version = store.version


def _fetch_or_scan(store: Store, columns: Sequence[str], ids: Sequence[str], total: int) -> Iterator[list[DocumentRow]]:
    """Documents in batches: fetched by id, or picked from a scan of all `total` if that is quicker."""
    if len(ids) < total // 4:
        yield from (store.fetch(ids[start : start + BATCH], columns) for start in range(0, len(ids), BATCH))
        return
    wanted = set(ids)
    for rows in store.batches(columns, BATCH) if ids else ():
        if selected := [row for row in rows if row.id in wanted]:
            yield selected


@contextmanager
def write_lock(
    folder: Path, on_message: Callable[[str], None], wait: Callable[[], None] | None = None
) -> Iterator[None]:
    """Hold a library's lock; if another process has it, say so through `on_message` and wait.

    `wait` is called again and again meanwhile; what it raises ends the waiting. The system frees the lock of a process
    that ends, however it ends.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK, thread_local=False)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            on_message(f"Another process is changing {folder}; waiting until it is done.")
            _acquire(lock, wait)
    except OSError as error:
        raise LibraryError(f"{folder} cannot be written ({error.strerror}). Name a folder you may write to.") from error
    try:
        _sweep(folder)
        yield
    finally:
        lock.release()


def _sweep(folder: Path) -> None:
    """Remove the files that killed processes had begun and not put in place; needs the lock."""
    for path in (path for pattern in UNFINISHED for path in folder.glob(pattern)):
        with suppress(OSError):  # a reader has just put it in place
            path.unlink()


def _acquire(lock: FileLock, wait: Callable[[], None] | None) -> None:
    """Wait for a lock; a caller that has other work meanwhile gets its turn between tries."""
    if wait is None:
        lock.acquire()
        return
    while not lock.is_locked:
        wait()
        with suppress(Timeout):
            lock.acquire(timeout=POLL)


@contextmanager
def try_write_lock(folder: Path) -> Iterator[Literal["locked", "busy", "forbidden"]]:
    """Hold the lock if no other process has it and the folder can be written."""
    lock = FileLock(folder / LOCK, thread_local=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        yield "busy"
        return
    except OSError:
        yield "forbidden"
        return
    try:
        yield "locked"
    finally:
        lock.release()
