"""Indexing on a Ray cluster: workers read, encode and write; this process decides and makes the one commit.

    Library("s3://bucket/papers").add("documents/", backend=RayBackend("10.0.0.1:6379"))

Stateless tasks read files, some blocks in advance, and send back summaries (ids and content hashes, no text). The same
rules as on one machine then decide which documents are new and which ids they get. A step of new documents goes to an
encoding worker, which fetches the texts from where they were read and writes texts and vectors as fragments of the
store. When all steps are finished, one commit makes everything visible, and the index is updated. A journal of finished
steps lets a killed run lose none of its workers' results.
"""

import json
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from longmatch.distributed.cluster import WorkerPool, WorkerResources, absolute_address, connected
from longmatch.distributed.reading import BLOCK_BYTES, file_blocks, read_blocks
from longmatch.documents.document import Document
from longmatch.encoders.hardware import limit_threads
from longmatch.library.changes import Changes, IndexingSummary, Prune
from longmatch.library.checksums import storage_errors
from longmatch.library.errors import LibraryError, NotALibrary
from longmatch.library.files import AnyFile, SourcePaths, Survey, survey
from longmatch.library.indexing import OnProgress, Work
from longmatch.library.rows import to_table
from longmatch.library.store import DOCUMENTS, Store, sql_in
from longmatch.library.writer import Writer

if TYPE_CHECKING:
    from longmatch.default.matcher import HybridMatcher

Fragment = str  # JSON, as Lance describes a fragment
JOURNAL = "ray-journal.jsonl"
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


@dataclass(frozen=True)
class FinishedStep:
    """Documents encoded and written, and the files that are complete once all steps up to this one are."""

    step: int
    fragments: list[Fragment]
    ids: list[str]
    files: list[dict[str, Any]] = field(default_factory=list)


class Journal:
    """The steps finished since the last commit, on disk as JSON Lines."""

    def __init__(self, path: Path, version: int) -> None:
        self.path = path
        self.finished: list[FinishedStep] = []
        self._write({"version": version}, "w")

    def append(self, step: FinishedStep) -> None:
        """Add a finished step."""
        self.finished.append(step)
        self._write(asdict(step), "a")

    def _write(self, record: dict[str, Any], mode: str) -> None:
        with self.path.open(mode, encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")


def commit_all(writer: Writer, steps: Sequence[FinishedStep], removed: Sequence[str]) -> None:
    """Add what the workers wrote and remove documents (ids), in one commit; then update the index."""
    ids = [id for step in steps for id in step.ids]
    fragments = [fragment for step in steps for fragment in step.fragments]
    if not fragments and not removed:
        return
    existing = set(writer.store.read(["id"])["id"].to_pylist())
    old = [id for id in [*ids, *removed] if id in existing]
    writer.follow(lambda: commit(writer.store, fragments, old), old)


def recover(path: Path, writer: Writer) -> None:
    """Commit the finished steps of a killed run, if the library has not changed since."""
    version, steps = -1, []
    with suppress(OSError, ValueError, KeyError, TypeError):  # no journal, or one cut off when the run was killed
        first, *lines = path.read_text(encoding="utf-8").splitlines()
        version = int(json.loads(first)["version"])
        for line in lines:
            steps.append(FinishedStep(**json.loads(line)))
    fragments = [fragment for step in steps for fragment in step.fragments]
    if steps and version == writer.store.version and are_readable(writer.store, fragments):
        commit_all(writer, steps, ())
        # of the steps before the first unfinished one, as the documents of a file may be in several
        ordered = sorted(steps, key=lambda step: step.step)
        complete = [step for number, step in enumerate(ordered) if step.step == number]
        writer.store.put_files([file for step in complete for file in step.files])
    path.unlink(missing_ok=True)


def commit(store: Store, fragments: Sequence[Fragment], removed: Sequence[str]) -> None:
    """Add fragments to the library and remove documents (ids), in one commit."""
    import lance

    with storage_errors(store.address):
        dataset = lance.dataset(_dataset_address(store.address), version=store.version)
        new = [lance.FragmentMetadata.from_json(fragment) for fragment in fragments]
        changed, emptied = [], []  # fragments that lose some documents, and the ids of those that lose all
        for fragment in dataset.get_fragments() if removed else ():
            remaining = fragment.delete(sql_in("id", removed))
            if remaining is None:
                emptied.append(fragment.fragment_id)
            elif remaining.deletion_file != fragment.metadata.deletion_file:
                changed.append(remaining)
        operation = lance.LanceOperation.Update(
            removed_fragment_ids=emptied, updated_fragments=changed, new_fragments=new
        )
        lance.LanceDataset.commit(_dataset_address(store.address), operation, read_version=store.version)
    store.refresh()


def are_readable(store: Store, fragments: Sequence[Fragment]) -> bool:
    """Whether the files of fragments still exist and are intact."""
    import lance
    from lance.file import LanceFileReader

    try:
        for fragment in fragments:
            metadata = lance.FragmentMetadata.from_json(fragment)
            for file in metadata.files:
                LanceFileReader(f"{_dataset_address(store.address)}/data/{file.path}").num_rows()
    except (OSError, ValueError):
        return False
    return True


def _dataset_address(address: str) -> str:
    return f"{address.rstrip('/')}/{DOCUMENTS}.lance"


class EncodeWorker:
    """A Ray actor. Nothing is loaded before `ready`, so that its errors reach the user as they are."""

    def __init__(self, address: str, make_matcher: MakeMatcher | None, threads: int) -> None:
        self._address, self._make_matcher, self._threads = address, make_matcher, threads

    def ready(self) -> None:
        """Load the model and check that it is the library's."""
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
        from lance import dataset
        from lance.fragment import write_fragments

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
        rows, place = pa.concat_tables(tables), _dataset_address(self._address)
        with storage_errors(self._address):  # fragments stay invisible until they are committed
            known = dataset(place).schema.names  # an older library may lack some columns
            rows = rows.select([name for name in rows.column_names if name in known])
            fragments = [json.dumps(fragment.to_json()) for fragment in write_fragments(rows, place, mode="append")]
        return fragments, tokens


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
        journal_path.unlink()
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
