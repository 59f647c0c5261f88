"""Changes to a library, by one writer at a time: first the store, in one commit, then the index derived from it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
from filelock import FileLock, Timeout

from longmatch.default.collection import sampled_unrelated
from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.default.meaning import Tokenised
from longmatch.default.statistics import Statistics
from longmatch.default.unrelated import drawn_documents
from longmatch.documents.document import Document
from longmatch.documents.unique_names import UniqueNames
from longmatch.library.checksums import storage_errors
from longmatch.library.errors import LibraryError, NotALibrary
from longmatch.library.files import SourcePaths, source_file
from longmatch.library.index.index import BATCH, Index
from longmatch.library.model import LibraryModel, background_digest
from longmatch.library.rows import DOCUMENT_COLUMNS, ENCODING_COLUMNS, DocumentRow, VectorType, rows_of, to_table
from longmatch.library.store import REENCODED, Store

LOCK = "writer.lock"
UNFINISHED = (".*.json.*", "index/.*.json.*", "*.lance/**/.tmp*")  # files being written, by `replace_text` and by Lance
POLL = 0.2  # seconds between tries for a lock that another process has
INDEX = "index"
OnDocuments = Callable[[int], None]  # called with the number of documents just encoded


class Writer:
    """Changes the store and keeps the index in step."""

    def __init__(self, store: Store, index: Index, matcher: Callable[[], HybridMatcher]) -> None:
        self.store, self.index, self.matcher = store, index, matcher

    def tokenize(self, documents: Sequence[Document]) -> list[Tokenised[Any]]:
        """Sentences, terms and tokens of documents: step one of three."""
        return self.matcher().tokenize(documents)

    def encode(
        self, documents: Sequence[Tokenised[Any]], on_documents: Callable[[int], None], on_tokens: Callable[[int], None]
    ) -> pa.Table:
        """Rows for the store: step two. The callbacks get the numbers of documents and of tokens just encoded."""
        return to_table(self.matcher().encode_tokens(documents, on_documents, on_tokens), self.store.model.vectors)

    def put(self, rows: pa.Table) -> None:
        """Store and index documents, replacing those with the same ids: step three."""
        stored = rows_of(self.store.put(rows), self.store.meaning)
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

    def finish(self) -> None:
        """Compact the store and the index, and recompute norms that are out of date."""
        self.store.tidy()
        with storage_errors(self.store.address):
            _refresh(self.index, self.store)
            self._save_index()

    def _save_index(self) -> None:
        """Save the index, with what other machines have changed in the store meanwhile."""
        if self.store.is_shared:
            update_index(self.index, self.store)
        self.index.save(self.store.version)


def _refresh(index: Index, store: Store) -> None:
    """Compute again what is out of date: the norms, the space, and what unrelated documents share, by random ones."""
    if not index.is_stale:
        return
    index.merge()
    index.refresh_norms()
    ids = sorted(index.roster.rows)
    drawn = [ids[i] for i in drawn_documents(len(ids))]
    encodings = [row.encoding() for row in store.fetch(drawn, ENCODING_COLUMNS)]
    index.unrelated = sampled_unrelated(encodings, index.rarity, len(ids))


def update_index(index: Index, store: Store) -> None:
    """Remove from the index what the store no longer has, or has with another text, and add what it lacks."""
    listed = store.read(["id", "hash"])
    stored = dict(zip(listed["id"].to_pylist(), listed["hash"].to_pylist(), strict=True))
    indexed = index.content_hashes()
    index.remove([id for id, hash in indexed.items() if stored.get(id) != hash])
    missing = [id for id, hash in stored.items() if indexed.get(id) != hash]
    batches: Iterable[list[DocumentRow]] = ()
    if len(missing) < len(stored) // 4:
        starts = range(0, len(missing), BATCH)
        batches = (store.fetch(missing[start : start + BATCH], index.columns) for start in starts)
    elif missing:  # to read all and pick some is quicker
        wanted = set(missing)
        batches = ([row for row in rows if row.id in wanted] for rows in store.batches(index.columns, BATCH))
    for rows in batches:
        if rows:
            index.add(rows)
    _refresh(index, store)
    index.version = store.version


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
            while wait is not None and not lock.is_locked:  # a caller that has other work gets its turn between tries
                wait()
                with suppress(Timeout):
                    lock.acquire(timeout=POLL)
            if wait is None:
                lock.acquire()
    except OSError as error:
        raise LibraryError(f"{folder} cannot be written ({error.strerror}). Name a folder you may write to.") from error
    try:
        for path in (path for pattern in UNFINISHED for path in folder.glob(pattern)):
            with suppress(OSError):  # a reader has just put it in place
                path.unlink()
        yield
    finally:
        lock.release()


@dataclass(frozen=True)
class CurrentIndex:
    """The index of a store, in a folder of the library."""

    store: Store
    folder: Path  # of the library, or of its index where the library is in object storage
    statistics: Statistics
    has_records: bool

    def open(self, recheck: bool = False) -> Index:
        """As it lies on disk, perhaps behind the store."""
        background = background_digest(self.statistics.sentences) + self.statistics.terms.digest
        made_by = f"{background}{self.statistics.prior}{self.store.model.to_json()}{self.store.lacks_columns}"
        fingerprint = sha256(made_by.encode()).hexdigest()[:16]
        place, settings = self.folder / INDEX, self.store.settings
        records = self.store.model.vectors if self.has_records else None
        return Index.open(place, self.statistics, fingerprint, records, settings, recheck=recheck)

    def updated(self) -> Index:
        """Brought up to date; needs the lock."""
        self.store.refresh()
        index = self.open(recheck=True)
        if index.version != self.store.version or index.is_stale:
            update_index(index, self.store)
        return index

    def covering(self) -> Index:
        """One that covers the store's version, finished should the process that wrote it have been killed.

        Where the library cannot be written it is made in a folder that goes with it.
        """
        index = self.open()
        if index.version > self.store.version:  # another process has committed since the store was refreshed
            self.store.refresh()
        if index.version == self.store.version and not index.is_stale:
            return index
        lock = FileLock(self.folder / LOCK, thread_local=False)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with lock.acquire(timeout=0):
                with suppress(LibraryError):
                    self.store.tidy(vectors=False)  # a writer that was killed left no full-text index
                index = self.updated()
                index.save(self.store.version)
                return index
        except Timeout:
            if index.segments:
                return index  # as far as the other process has come
        except OSError:  # it cannot be written, or the disk is full
            pass
        index = self.open()
        index.scratch = TemporaryDirectory(prefix="longmatch-")
        index.folder, index.records = Path(index.scratch.name), None
        with storage_errors(self.store.address):
            update_index(index, self.store)
        return index


def put_documents(
    writer: Writer, source_paths: SourcePaths, path: Path, encodings: Sequence[Encoding], problems: Sequence[str]
) -> list[str]:
    """Store the documents of a file and the file's record, with what could not be read of it; returns their ids.

    The record is last, as in `IndexingRun`: if killed before, the file counts as not indexed, and adding it again
    replaces its documents. No document of another file is replaced.
    """
    file = source_file(path, source_paths.source(path))
    known = writer.store.read(["id", "source"]).to_pylist()
    taken = {row["id"] for row in known if row["source"] != file.source}
    unique_id = UniqueNames(taken.__contains__)
    stored = []
    for encoding in encodings:
        named = replace(encoding.document, id=unique_id(encoding.document.id), source=file.source)
        stored.append(replace(encoding, sentences=replace(encoding.sentences, document=named)))
    writer.put(to_table(stored, writer.store.model.vectors))
    writer.store.put_files([file.record(problems)])
    return [encoding.document.id for encoding in stored]


def reencode(
    store: Store, matcher: HybridMatcher, vector_type: VectorType, on_documents: OnDocuments | None = None
) -> Store:
    """Encode all documents into a second table, and replace the first by it in one commit.

    If interrupted, the next call with the same model resumes; documents that have changed since are encoded again.
    """
    model = LibraryModel.of(matcher, vector_type)
    target: Store | None = None
    with suppress(NotALibrary):  # the table of an interrupted run
        target = Store.open(store.address, REENCODED, store.settings)
        if target.model != model or target.lacks_columns:
            target.drop()
            target = None
    if target is None:
        target = Store.create(store.address, model, REENCODED, store.settings)
    encoded, stored = (
        {row["id"]: row for row in each.read(["id", "hash", "source"]).to_pylist()} for each in (target, store)
    )
    stale = [id for id, row in encoded.items() if stored.get(id) != row]
    if stale:
        target.delete(stale)
    done = encoded.keys() - set(stale)
    for rows in store.batches(DOCUMENT_COLUMNS):
        remaining = [row for row in rows if row.id not in done]
        if remaining:
            target.put(to_table(matcher.encode([row.document() for row in remaining]), model.vectors))
        if on_documents:
            on_documents(len(rows))
    store.replace_documents(target)
    return Store.open(store.address, settings=store.settings)
