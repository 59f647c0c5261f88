"""Indexing on a Ray cluster: workers read, encode and write; this process decides and makes the one commit.

    Library("s3://bucket/papers").add("documents/", backend=RayBackend("10.0.0.1:6379"))

Stateless tasks read files, some blocks in advance, and send back summaries (ids and content hashes, no text). The same
rules as on one machine then decide which documents are new and which ids they get. A step of new documents goes to an
encoding worker, which fetches the texts from where they were read and writes texts and vectors as fragments of the
store. When all steps are finished, one commit makes everything visible, and the index is updated.
"""

import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmatch.distributed.cluster import WorkerPool, WorkerResources, absolute_address, connected
from longmatch.distributed.journal import JOURNAL, FinishedStep, Journal, commit_all, recover
from longmatch.distributed.reading import BLOCK_BYTES, file_blocks, read_blocks
from longmatch.documents.document import Document
from longmatch.library.changes import Changes, IndexingSummary, Prune
from longmatch.library.errors import LibraryError, NotALibrary
from longmatch.library.files import AnyFile, SourcePaths, Survey, survey
from longmatch.library.indexing import OnProgress, Work
from longmatch.library.writer import Writer

if TYPE_CHECKING:
    from longmatch.default.matcher import HybridMatcher

MakeMatcher = Callable[[], "HybridMatcher"]

BATCH = 64  # documents encoded together
STEP_DOCUMENTS = 512
MIN_CHARACTERS, MAX_CHARACTERS = 100_000, 16_000_000  # per step: few steps per worker, none too large


@dataclass(frozen=True)
class DocumentToEncode:
    """A document to encode: its position in its block, and its id and source in the library."""

    position: int
    id: str
    source: str


@dataclass
class EncodingStep:
    """Documents that one worker encodes and writes as fragments of the store."""

    number: int = 0
    blocks: list[Any] = field(default_factory=list)  # Ray references to the documents of whole blocks
    selected: list[list[DocumentToEncode]] = field(default_factory=list)  # of each block
    documents: int = 0
    characters: int = 0
    files: list[dict[str, Any]] = field(default_factory=list)  # complete with this step


class EncodeWorker:
    """A Ray actor. Nothing is loaded before `ready`, so that its errors reach the user as they are."""

    def __init__(self, address: str, make_matcher: MakeMatcher | None, threads: int) -> None:
        self._address, self._make_matcher, self._threads = address, make_matcher, threads

    def ready(self) -> None:
        """Load the model and check that it is the library's."""
        from longmatch.encoders.hardware import limit_threads
        from longmatch.library.store import Store

        limit_threads(self._threads)
        try:
            store = Store.open(self._address)
        except NotALibrary as error:
            raise LibraryError(
                f"{self._address} does not exist on the machine {socket.gethostname()}. Put the library where all "
                "machines of the cluster can reach it: a shared folder or object storage."
            ) from error
        made = self._make_matcher() if self._make_matcher else store.model.load_matcher(self._address)
        self._matcher = store.model.checked(made, self._address)
        self._vector_type = store.model.vectors

    def encode(
        self, selected: Sequence[Sequence[DocumentToEncode]], *blocks: Sequence[Document]
    ) -> tuple[list[str], int]:
        """Encode and write the selected documents of some blocks; returns the fragments and the number of tokens."""
        import pyarrow as pa

        from longmatch.distributed.journal import write_fragments
        from longmatch.library.rows import to_table

        documents = [
            replace(block[document.position], id=document.id, source=document.source)
            for block, chosen in zip(blocks, selected, strict=True)
            for document in chosen
        ]
        tables, tokens = [], 0
        for start in range(0, len(documents), BATCH):
            encodings = self._matcher.encode(documents[start : start + BATCH])
            tables.append(to_table(encodings, self._vector_type))
            tokens += sum(int(encoding.sentences.lengths.sum()) for encoding in encodings)
        return write_fragments(self._address, pa.concat_tables(tables)), tokens


@dataclass(frozen=True)
class RayBackend:
    """A backend of `Library.add`: reads and encodes on the cluster at `address`, or on one started here."""

    address: str | None = None
    resources: WorkerResources = field(default_factory=WorkerResources)
    make_matcher: MakeMatcher | None = None  # called by every worker; by default each loads the library's model
    step_documents: int = STEP_DOCUMENTS

    def add(
        self,
        writer: Writer,
        source_paths: SourcePaths,
        on_progress: OnProgress | None,
        prune: Prune,
        paths: Iterable[AnyFile],
    ) -> IndexingSummary:
        """Update a library with the files under `paths`."""
        journal = writer.index.folder.parent / JOURNAL
        with connected(self.address) as ray:
            recover(journal, writer)
            run = _Run(ray, self, writer, Changes(writer.store, source_paths, prune), on_progress)
            return run.run(survey([path.absolute() for path in paths], writer.store.files(), source_paths), journal)


class _Run:
    """One run of indexing."""

    def __init__(
        self, ray: Any, backend: RayBackend, writer: Writer, changes: Changes, on_progress: OnProgress | None
    ) -> None:
        self.ray, self.backend, self.writer, self.changes = ray, backend, writer, changes
        self.removed: list[str] = []
        self.work = Work(on_progress)

    def run(self, files: Survey, journal_path: Path) -> IndexingSummary:
        """Read, encode, commit."""
        self.changes.begin(files)
        self.work.expect(files.to_read)
        records: list[dict[str, Any]] = []
        journal = Journal(journal_path, self.writer.store.version)
        if files.to_read:
            for step in self._finished_steps(files, journal):
                records += step.files
        removed, forgotten = self.changes.finish(files)
        self.removed += removed
        commit_all(self.writer, journal.finished, self.removed)
        self.writer.store.put_files([*records, *files.touched])
        self.writer.store.delete_files(forgotten)
        journal.delete()
        return self.changes.summary

    def _finished_steps(self, files: Survey, journal: Journal) -> Iterator[EncodingStep]:
        """The steps, as the workers finish them."""
        ray, backend = self.ray, self.backend
        allocation = backend.resources.allocate(ray.nodes())
        size = sum(file.size for file in files.to_read) // (8 * allocation.workers)
        size = min(MAX_CHARACTERS, max(MIN_CHARACTERS, size))
        address = absolute_address(self.writer.store.address)
        actor = ray.remote(**allocation.options)(EncodeWorker)
        pool: WorkerPool[EncodingStep] = WorkerPool(
            ray,
            allocation.workers,
            lambda: actor.remote(address, backend.make_matcher, allocation.threads),
            lambda worker, step: worker.encode.remote(step.selected, *step.blocks),
        )
        last = EncodingStep()
        with pool:
            for step, (fragments, tokens) in pool.work(self._steps(files, allocation.workers, size, last)):
                ids = [document.id for block in step.selected for document in block]
                journal.append(FinishedStep(step.number, fragments, ids, [] if self.removed else step.files))
                self.work.tokens += tokens
                self.work.documents += step.documents
                self.work.encoded(step.characters)
                self.work.report()
                yield step
        yield last

    def _steps(self, files: Survey, workers: int, size: int, last: EncodingStep) -> Iterator[EncodingStep]:
        """Steps of about `size` characters; `last` gets the files that follow the last document to encode."""
        step = EncodingStep()
        blocks = file_blocks(files.to_read, min(size, BLOCK_BYTES))
        before: set[str] = set()
        problems: list[Any] = []
        source = ""
        for summaries, documents in read_blocks(self.ray, blocks, ahead=2 * workers + 2, at_once=workers // 2 + 1):
            for summary in summaries:
                if summary.file.source != source:
                    source, problems = summary.file.source, []
                    before = set(self.changes.ids_by_source.get(source, ()))
                for document in summary.documents:
                    id, is_new = self.changes.assign(document.id, document.hash, source)
                    before.discard(id)
                    if not is_new:
                        continue
                    if not step.blocks or step.blocks[-1] is not documents:
                        step.blocks.append(documents)
                        step.selected.append([])
                    step.selected[-1].append(DocumentToEncode(document.position, id, source))
                    step.documents += 1
                    step.characters += document.characters
                    self.work.add(document.characters)
                    if step.characters >= size or step.documents >= self.backend.step_documents:
                        yield step
                        step = EncodingStep(step.number + 1)
                problems += summary.problems
                self.changes.summary.remarks += summary.remarks
                if summary.last:
                    record, removed = self.changes.finish_file(summary.file, problems, before)
                    step.files.append(record)
                    self.removed += removed
                    self.work.finish(summary.file)
            self.work.report()
        if step.documents:
            yield step
        else:
            last.files = step.files
