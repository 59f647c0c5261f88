"""Indexing: files become documents of the library, in batches that are each committed, and how far that has come."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from queue import Queue
from threading import Event, Lock, Thread
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from longmatch.documents.document import Document, content_hash
from longmatch.library.changes import Changes, IndexingSummary, Prune, rename_documents, renamed_files
from longmatch.library.files import AnyFile, FileRead, SourceFile, SourcePaths, read_files, survey
from longmatch.matching.wording import language_remarks

if TYPE_CHECKING:
    import pyarrow as pa

    from longmatch.default.meaning import Tokenised
    from longmatch.library.writer import Writer

CHARACTERS_PER_BYTE = {".pdf": 0.1, ".docx": 1.0, ".gz": 3.0, ".xz": 4.0}  # until files of the kind have been read
Stage = Callable[[Any], Any]
BATCH_CHARACTERS = 4_000_000  # at most in one commit


@dataclass(frozen=True)
class IndexingProgress:
    """How far indexing has come."""

    files: int  # read
    total_files: int
    documents: int  # encoded
    tokens: int
    seconds: float
    share: float  # of the work, by characters encoded; those of files not read yet are estimated
    read: float = 1.0  # the share of these characters that was read
    written: int = 0  # documents
    written_share: float = 0.0  # of the characters, those of documents written

    @property
    def rate(self) -> float:
        """Tokens per second."""
        return self.tokens / self.seconds if self.seconds else 0.0


OnProgress = Callable[[IndexingProgress], None]


class Work:
    """The work of an indexing run, done and expected; `report` calls `on_progress` with it, from any thread.

    It is measured by the characters to encode: counted in files that were read, estimated from the size of the others.
    """

    def __init__(self, on_progress: OnProgress | None = None) -> None:
        self.files = self.total_files = self.documents = self.tokens = 0
        self.under_way = 0.0  # characters of the present batch that have been encoded so far
        self._on_progress, self._lock, self._started = on_progress, Lock(), time.monotonic()
        self._waiting: Counter[str] = Counter()  # bytes to read, by suffix
        self._read: Counter[str] = Counter()  # bytes
        self._characters: Counter[str] = Counter()  # to encode, of files read
        self._unfinished = 0  # characters of the file that is being read
        self._found = self._encoded = self._written = self._written_documents = 0

    def expect(self, files: Sequence[SourceFile]) -> None:
        """Files that will be read."""
        self.total_files = len(files)
        for file in files:
            self._waiting[file.path.suffix.lower()] += file.size

    def add(self, characters: int) -> None:
        """A document to encode, of the file that is being read."""
        self._found += characters
        self._unfinished += characters

    def finish(self, file: SourceFile) -> None:
        """A file has been read to its end."""
        self.files += 1
        suffix = file.path.suffix.lower()
        self._waiting[suffix] -= file.size
        self._read[suffix] += file.size
        self._characters[suffix] += self._unfinished
        self._unfinished = 0

    def encoded(self, characters: int) -> None:
        """A whole batch has been encoded."""
        self._encoded += characters
        self.under_way = 0.0

    def written(self, documents: int, characters: int) -> None:
        """A whole batch has been written."""
        self._written_documents += documents
        self._written += characters

    def report(self) -> None:
        """Say how far the run has come."""
        if self._on_progress:
            with self._lock:
                self._on_progress(self.progress())

    def progress(self) -> IndexingProgress:
        """How far the run has come."""
        waiting = 0.0
        for suffix, size in self._waiting.items():  # by the characters a byte of such files
            read = self._read[suffix]
            waiting += size * (self._characters[suffix] / read if read else CHARACTERS_PER_BYTE.get(suffix, 1.0))
        expected = self._found + max(0.0, waiting - self._unfinished)
        done = (self._encoded + self.under_way, self._found, self._written)
        encoded, read_share, written = (min(1.0, part / expected) if expected else 1.0 for part in done)
        seconds = time.monotonic() - self._started
        return IndexingProgress(
            self.files,
            self.total_files,
            self.documents,
            self.tokens,
            seconds,
            encoded,
            read_share,
            self._written_documents,
            written,
        )


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
    tokens: list["Tokenised[Any]"] = field(default_factory=list)
    rows: "pa.Table | None" = None
    files: list[dict[str, Any]] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)  # ids that a changed JSON Lines file no longer has
    characters: int = 0
    started: float = field(default_factory=time.monotonic)


class IndexingRun:
    """One run of indexing: this thread reads; a pipeline tokenizes, encodes and stores, each in its own thread."""

    def __init__(
        self, writer: "Writer", source_paths: SourcePaths, on_progress: OnProgress | None, prune: Prune
    ) -> None:
        self.writer, self.source_paths, self.work = writer, source_paths, Work(on_progress)
        self.changes = Changes(writer.store, source_paths, prune)
        self.batch = _Batch()
        self.pipeline = Pipeline([self._tokenize, self._encode, self._store])
        self.languages: set[str] = set()  # of new and changed documents
        self.settings = writer.store.settings
        self.batch_characters: float = self.settings.first_characters

    def run(self, paths: Iterable[AnyFile]) -> IndexingSummary:
        """Bring the library up to date with the files in `paths`."""
        records = self.writer.store.files()
        files = survey(paths, records, self.source_paths)
        self.changes.begin(files)
        # documents of renamed files get their new names, and these files are not read
        found = renamed_files(files, records, self.changes.may_remove)
        renames = [rename for place in found if (rename := self.changes.rename(*place)) is not None]
        rename_documents(self.writer, renames)
        read, before = {rename.file.source for rename in renames}, {rename.before for rename in renames}
        files.to_read = [file for file in files.to_read if file.source not in read]
        files.gone = [source for source in files.gone if source not in before]
        self.work.expect(files.to_read)
        self.work.report()
        with self.pipeline:
            for file in read_files(files.to_read):
                self._add(file)
                self.work.finish(file.file)
                self.work.report()
            self._submit()
            self.batch.removed, forgotten = self.changes.finish(files)
            self._submit()
        self.writer.store.put_files(files.touched)
        self.writer.store.delete_files(forgotten)
        self.changes.summary.remarks += language_remarks(self.languages, self.writer.store.model.languages)
        return self.changes.summary

    def _add(self, read: FileRead) -> None:
        """Put a file's new and changed documents into the next batches."""
        file = read.file
        unseen = set(self.changes.ids_by_source.get(file.source, ()))
        for document in read.documents:
            id, is_new = self.changes.assign(document.id, content_hash(document), file.source)
            unseen.discard(id)
            if is_new:
                self.batch.documents.append(replace(document, id=id, source=file.source))
                self.batch.characters += len(document.text)
                self.work.add(len(document.text))
                self.languages.add(document.language)
            is_old = self.batch.documents and time.monotonic() - self.batch.started >= self.settings.commit_seconds
            count, characters = len(self.batch.documents), self.batch.characters
            if is_old or count >= self.settings.commit_documents or characters >= self.batch_characters:
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
        started, before = time.monotonic(), self.work.tokens
        characters_per_token = batch.characters / max(1, sum(map(len, batch.tokens)))

        def on_documents(count: int) -> None:
            self.work.documents += count

        def on_tokens(count: int) -> None:
            self.pipeline.check()
            self.work.tokens += count
            self.work.under_way = (self.work.tokens - before) * characters_per_token
            self.work.report()

        batch.rows, batch.tokens = self.writer.encode(batch.tokens, on_documents, on_tokens), []
        self.work.encoded(batch.characters)
        speed = batch.characters / max(time.monotonic() - started, 1e-3)
        self.batch_characters = min(BATCH_CHARACTERS, speed * self.settings.commit_seconds)
        return batch

    def _store(self, batch: _Batch) -> None:
        """Files are recorded last: if killed before, the next run reads them again."""
        if batch.rows is not None:
            self.writer.put(batch.rows)
            self.work.written(len(batch.rows), batch.characters)
        if batch.removed:
            self.writer.remove(batch.removed)
        self.writer.store.put_files(batch.files)
        self.work.report()


class PipelineStopped(Exception):
    """Raised inside a stage whose work is no longer needed."""


class _Failure:
    """Replaces an item on which a stage failed; the items before it are still completed."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


_END = object()


class Pipeline:
    """Items pass through the stages in order; one may wait before each stage, which bounds memory.

    An error in a stage is raised by the next `put`, or at the end of the block: items before the failed one are
    completed, items after it are dropped. If the block itself raises, on Ctrl-C for example, the last stage, which
    keeps the results, completes what has come to it, and all else is dropped; long stages should call `check` now and
    then. No thread outlives the block, however often it is interrupted.

    >>> done = []
    >>> with Pipeline([lambda x: x + 1, done.append]) as pipeline:
    ...     for number in (1, 2, 3):
    ...         pipeline.put(number)
    >>> done
    [2, 3, 4]
    """

    def __init__(self, stages: Sequence[Stage]) -> None:
        self._queues: list[Queue[Any]] = [Queue(1) for _ in stages]
        self._error: BaseException | None = None
        self._stop = Event()
        following = [*self._queues[1:], None]
        workers = zip(stages, self._queues, following, strict=True)
        self.threads = [Thread(target=self._work, args=worker, daemon=True) for worker in workers]
        self._interrupt: KeyboardInterrupt | None = None

    def __enter__(self) -> Self:
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._stop.set()
        self._wait(lambda: self._queues[0].put(_END))
        for thread in self.threads:
            self._wait(thread.join)
        if self._interrupt is not None:
            raise self._interrupt
        if error is None:
            self._raise_error()

    def _wait(self, wait: Callable[[], None]) -> None:
        """Wait to the end; an interrupt meanwhile stops the work and is raised when the threads have ended."""
        while True:
            try:
                return wait()
            except KeyboardInterrupt as interrupt:
                self._stop.set()
                self._interrupt = interrupt

    def put(self, item: Any) -> None:
        """Pass an item to the first stage; waits until there is room."""
        self._raise_error()
        self._queues[0].put(item)

    def check(self) -> None:
        """For stages: raise PipelineStopped if the work is no longer needed."""
        if self._stop.is_set():
            raise PipelineStopped

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error

    def _work(self, stage: Stage, queue: "Queue[Any]", following: "Queue[Any] | None") -> None:
        failed, is_last = False, following is None
        while (item := queue.get()) is not _END:
            if failed or (self._stop.is_set() and not is_last):
                continue  # drain the queue, so that nobody waits
            if not isinstance(item, _Failure):
                try:
                    item = stage(item)
                except BaseException as error:
                    item = _Failure(error)
            if isinstance(item, _Failure):
                failed = True
                if is_last:
                    self._error = item.error
            if following is not None:
                following.put(item)
        if following is not None:
            following.put(_END)
