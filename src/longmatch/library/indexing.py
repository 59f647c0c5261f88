"""Indexing: files become documents of the library, in batches that are each committed."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from longmatch.documents.checks import is_gone
from longmatch.documents.document import Document, content_hash
from longmatch.documents.unique_names import UniqueNames
from longmatch.errors import ReadError
from longmatch.library.files import AnyFile, FileRead, SourceFile, SourcePaths, Survey, read_files, survey
from longmatch.library.pipeline import Pipeline
from longmatch.library.progress import IndexingProgress, OnProgress, Work
from longmatch.library.renames import Rename, rename_documents, renamed_files, renamed_id
from longmatch.render.wording import language_remarks

if TYPE_CHECKING:
    import pyarrow as pa

    from longmatch.library.store import Store
    from longmatch.library.writer import Writer
    from longmatch.units import Tokens

Prune: TypeAlias = bool | Callable[[Path], bool]
"""Whether documents whose file is gone are removed; or of which files they are."""

BATCH_DOCUMENTS, BATCH_CHARACTERS = 64, 4_000_000  # at most in one commit
COMMIT_SECONDS = 20.0  # of work, about, in one commit: what an interrupt may lose
FIRST_CHARACTERS = 30_000  # in one commit, before the speed is known


@dataclass
class IndexingSummary:
    """What indexing changed."""

    added: list[str] = field(default_factory=list)  # ids
    replaced: list[str] = field(default_factory=list)
    unchanged: int = 0  # documents
    vanished: list[str] = field(default_factory=list)  # ids whose file is gone, still in the library
    removed: list[str] = field(default_factory=list)
    renamed: list[tuple[str, str]] = field(default_factory=list)  # ids before and after; kept as they were encoded
    unreadable: list[tuple[str, str]] = field(default_factory=list)  # file, error message
    passed_over: list[str] = field(default_factory=list)  # files of a format that longmatch does not read
    remarks: list[str] = field(default_factory=list)  # on documents that were read: pages without text, for example

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "added": self.added,
            "replaced": self.replaced,
            "unchanged": self.unchanged,
            "vanished": self.vanished,
            "removed": self.removed,
            "renamed": [{"before": before, "after": after} for before, after in self.renamed],
            "unreadable": [{"file": file, "problem": problem} for file, problem in self.unreadable],
            "passed_over": self.passed_over,
            "remarks": self.remarks,
        }


class Changes:
    """Decides, document by document in file order, which are new, changed, unchanged or gone, and assigns their ids."""

    def __init__(self, store: "Store", paths: SourcePaths, prune: Prune) -> None:
        self.paths, self._prune = paths, prune
        rows = store.read(["id", "hash", "source"])
        columns = (rows[name].to_pylist() for name in ("id", "hash", "source"))
        self.stored: dict[str, tuple[str, str]] = {
            id: (hash, source) for id, hash, source in zip(*columns, strict=True)
        }
        self.ids_by_source: dict[str, set[str]] = defaultdict(set)  # before this run
        for id, (_, source) in self.stored.items():
            self.ids_by_source[source].add(id)
        self.assigned: set[str] = set()
        self._source: str | None = None  # the last file
        self._ids = UniqueNames()  # of its documents
        self.summary = IndexingSummary()

    def begin(self, files: Survey) -> None:
        """Keep the documents of unchanged files, and record what the survey found that is not read."""
        self.summary.passed_over += map(str, files.passed_over)
        for source in files.unchanged:
            ids = self.ids_by_source.get(source, set())
            self.assigned |= ids
            self.summary.unchanged += len(ids)
        self.summary.unreadable += [(error.path, str(error)) for error in files.problems]
        self.summary.unreadable += [(str(self.paths.path(file)), text) for file, text in files.known_problems]

    def assign(self, name: str, hash: str, source: str) -> tuple[str, bool]:
        """The id of a document called `name` with this content hash, and whether it needs to be encoded."""
        id = self._unique_ids(source)(name)
        self.assigned.add(id)
        if self.stored.get(id) == (hash, source):
            self.summary.unchanged += 1
            return id, False
        (self.summary.replaced if id in self.stored else self.summary.added).append(id)
        self.stored[id] = hash, source
        return id, True

    def _unique_ids(self, source: str) -> UniqueNames:
        """The ids of a file's documents, which follow each other."""
        if source != self._source:
            self._source, self._ids = source, UniqueNames(lambda id: self._is_taken(id, source))
        return self._ids

    def _is_taken(self, id: str, source: str) -> bool:
        """Whether an id was assigned, or belongs to a document of another file that is not gone."""
        if id in self.assigned:
            return True
        owner = self.stored[id][1] if id in self.stored else source
        return owner != source and not is_gone(self.paths.path(owner))

    def may_remove(self, source: str) -> bool:
        """Whether documents that are no longer in a file are removed, as where the file is gone."""
        return self._prune(self.paths.path(source)) if callable(self._prune) else self._prune

    def rename(self, before: str, file: SourceFile) -> Rename | None:
        """Give the documents of a renamed file their new ids; None where it has none, or one of these is taken."""
        ids = {id: renamed_id(id, before, file.id) for id in sorted(self.ids_by_source.get(before, ()))}
        own = (before, file.source)  # the latter where this was interrupted
        if not ids or any(
            id in self.assigned or self.stored.get(id, ("", before))[1] not in own for id in ids.values()
        ):
            return None
        hashes = {new: self.stored.pop(old)[0] for old, new in ids.items()}
        self.stored |= {id: (hash, file.source) for id, hash in hashes.items()}
        self.assigned |= hashes.keys()
        self.summary.renamed += ids.items()
        return Rename(before, file, ids)

    def finish_file(
        self, file: SourceFile, problems: Sequence[ReadError], unseen: Iterable[str]
    ) -> tuple[dict[str, Any], list[str]]:
        """The record of a file that was read, and the ids to remove.

        `unseen` are the ids that the file had before and no longer has. They are kept if the file could not be read
        completely.
        """
        removed, kept = ([], []) if problems else self._missing(file.source, unseen)
        self.summary.unreadable += [(str(file.path), str(error)) for error in problems]
        record = file.record([str(error) for error in problems])
        return record | ({"hash": "", "modified": 0} if kept else {}), removed  # kept: read it again next time

    def finish(self, files: Survey) -> tuple[list[str], list[str]]:
        """The ids to remove because their files are gone, and the records of files to remove."""
        sources = [source for source in files.gone if self.may_remove(source)]
        missing = [self._missing(source, self.ids_by_source.get(source, ()))[0] for source in files.gone]
        return [id for ids in missing for id in ids], sources

    def _missing(self, source: str, ids: Iterable[str]) -> tuple[list[str], list[str]]:
        """Of documents that are no longer in their file: those to remove, and those to keep without a file."""
        missing = sorted(id for id in ids if id not in self.assigned)
        is_removed = self.may_remove(source)
        (self.summary.removed if is_removed else self.summary.vanished).extend(missing)
        return (missing, []) if is_removed else ([], missing)


class IndexingBackend(Protocol):
    """Reads and encodes documents elsewhere than in this process."""

    def add(
        self,
        writer: "Writer",
        source_paths: SourcePaths,
        on_progress: OnProgress | None,
        prune: Prune,
        paths: Iterable[AnyFile],
    ) -> IndexingSummary:
        """Bring a library up to date with the files in `paths`."""


@dataclass
class _Batch:
    """Documents and files of one commit. In the pipeline documents become tokens, and tokens rows."""

    documents: list[Document] = field(default_factory=list)
    tokens: list["Tokens"] = field(default_factory=list)
    rows: "pa.Table | None" = None
    files: list[dict[str, Any]] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)  # ids that a changed JSON Lines file no longer has
    characters: int = 0
    started: float = field(default_factory=time.monotonic)

    def add(self, document: Document) -> None:
        self.documents.append(document)
        self.characters += len(document.text)

    def is_full(self, characters: float) -> bool:
        """Whether it has as many documents or characters as one commit takes, or was waiting long for files."""
        is_old = bool(self.documents) and time.monotonic() - self.started >= COMMIT_SECONDS
        return len(self.documents) >= BATCH_DOCUMENTS or self.characters >= characters or is_old


class IndexingRun:
    """One run of indexing: this thread reads; a pipeline tokenizes, encodes and stores, each in its own thread."""

    def __init__(
        self, writer: "Writer", source_paths: SourcePaths, on_progress: OnProgress | None, prune: Prune
    ) -> None:
        self.writer, self.source_paths, self.on_progress = writer, source_paths, on_progress
        self.changes = Changes(writer.store, source_paths, prune)
        self.batch = _Batch()
        self.pipeline = Pipeline([self._tokenize, self._encode, self._store])
        self.files = self.total_files = self.documents = self.tokens = self.written = 0
        self.work = Work()
        self.languages: set[str] = set()  # of new and changed documents
        self.batch_characters: float = FIRST_CHARACTERS
        self.started = time.monotonic()
        self._progress_lock = Lock()

    def run(self, paths: Iterable[AnyFile]) -> IndexingSummary:
        """Bring the library up to date with the files in `paths`."""
        records = self.writer.store.files()
        files = survey(paths, records, self.source_paths)
        self.changes.begin(files)
        self._keep_renamed(files, records)
        self.total_files = len(files.to_read)
        self.work.expect(files.to_read)
        self._report()
        with self.pipeline:
            for file in read_files(files.to_read):
                self._add(file)
                self.files += 1
                self.work.finish(file.file)
                self._report()
            self._submit()
            self.batch.removed, forgotten = self.changes.finish(files)
            self._submit()
        self.writer.store.put_files(files.touched)
        self.writer.store.delete_files(forgotten)
        self.changes.summary.remarks += language_remarks(self.languages, self.writer.store.model.languages)
        return self.changes.summary

    def _keep_renamed(self, files: Survey, records: Mapping[str, Mapping[str, Any]]) -> None:
        """Give documents of renamed files their new names, and take these files out of those to read."""
        found = renamed_files(files, records, self.changes.may_remove)
        renames = [rename for place in found if (rename := self.changes.rename(*place)) is not None]
        rename_documents(self.writer, renames)
        read, before = {rename.file.source for rename in renames}, {rename.before for rename in renames}
        files.to_read = [file for file in files.to_read if file.source not in read]
        files.gone = [source for source in files.gone if source not in before]

    def _add(self, read: FileRead) -> None:
        """Put a file's new and changed documents into the next batches."""
        file = read.file
        unseen = set(self.changes.ids_by_source.get(file.source, ()))
        for document in read.documents:
            id, is_new = self.changes.assign(document.id, content_hash(document), file.source)
            unseen.discard(id)
            if is_new:
                self.batch.add(replace(document, id=id, source=file.source))
                self.work.add(len(document.text))
                self.languages.add(document.language)
            if self.batch.is_full(self.batch_characters):
                self._submit()
        self.changes.summary.remarks += read.remarks
        record, removed = self.changes.finish_file(file, read.problems, unseen)
        self.batch.files.append(record)
        self.batch.removed += removed

    def _submit(self) -> None:
        self.pipeline.put(self.batch)
        self.batch = _Batch()

    def _tokenize(self, batch: _Batch) -> _Batch:
        batch.tokens, batch.documents = self.writer.tokenize(batch.documents), []
        return batch

    def _encode(self, batch: _Batch) -> _Batch:
        if not batch.tokens:
            return batch
        started, before = time.monotonic(), self.tokens
        characters_per_token = batch.characters / max(1, sum(map(len, batch.tokens)))

        def on_tokens(count: int) -> None:
            self.pipeline.check()
            self.tokens += count
            self.work.encoding((self.tokens - before) * characters_per_token)
            self._report()

        batch.rows, batch.tokens = self.writer.encode(batch.tokens, self._on_documents, on_tokens), []
        self.work.encoded(batch.characters)
        speed = batch.characters / max(time.monotonic() - started, 1e-3)
        self.batch_characters = min(BATCH_CHARACTERS, speed * COMMIT_SECONDS)
        return batch

    def _on_documents(self, count: int) -> None:
        self.documents += count

    def _store(self, batch: _Batch) -> None:
        """Files are recorded last: if killed before, the next run reads them again."""
        if batch.rows is not None:
            self.writer.put(batch.rows)
            self.written += len(batch.rows)
            self.work.written(batch.characters)
        if batch.removed:
            self.writer.remove(batch.removed)
        self.writer.store.put_files(batch.files)
        self._report()

    def _report(self) -> None:
        if self.on_progress:
            with self._progress_lock:
                seconds = time.monotonic() - self.started
                standing = IndexingProgress(
                    self.files,
                    self.total_files,
                    self.documents,
                    self.tokens,
                    seconds,
                    self.work.share,
                    self.work.read_share,
                    self.written,
                    self.work.written_share,
                )
                self.on_progress(standing)
