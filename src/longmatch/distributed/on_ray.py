"""Indexing on a Ray cluster: workers read, encode and write; decisions and the one commit are made here.

    Library("s3://bucket/papers").add("documents/", backend=OnRay("10.0.0.1:6379"))

Reading is a stream of stateless tasks, some blocks ahead of need. What they find (ids and content hashes, no text)
comes here, where the same rules as on one machine say which documents are new and what they are called. A step of new
documents goes to an encoder, which takes the texts from where they were read and writes vectors and texts as a part
of the store. When all are done, one commit makes everything visible, and the index is brought up to date.
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longmatch.default.matcher import HybridMatcher
from longmatch.distributed.cluster import connected, own_error, whole
from longmatch.distributed.crew import Crew, Share
from longmatch.distributed.encoding import Encoder, Make, Picked, Step
from longmatch.distributed.journal import NAME, Finished, Journal, commit_all, recover
from longmatch.distributed.reading import BLOCK_BYTES, FileSeen, blocks_of, read_blocks
from longmatch.library.files import SourcePaths, Survey, survey
from longmatch.library.indexing import Changes, IndexingProgress, IndexingSummary, OnProgress
from longmatch.library.writer import Writer

STEP_DOCUMENTS, LEAST, MOST = 512, 100_000, 16_000_000  # characters a step: few steps a worker, none too large


@dataclass(frozen=True)
class OnRay:
    """A way for `Library.add` to read and encode: on the cluster at an address, or on one started here."""

    address: str | None = None
    share: Share = field(default_factory=Share)
    make: Make = HybridMatcher  # called by every worker
    step_documents: int = STEP_DOCUMENTS

    def add(
        self,
        writer: Writer,
        source_paths: SourcePaths,
        on_progress: OnProgress | None,
        prune: bool,
        paths: Iterable[Path],
    ) -> IndexingSummary:
        """Bring a library up to date with the files below the paths."""
        journal = writer.index.folder.parent / NAME
        with connected(self.address) as ray:
            recover(journal, writer)
            run = _Run(ray, self, writer, Changes(writer.store, source_paths, prune), on_progress)
            return run.run(survey([path.absolute() for path in paths], writer.store.files(), source_paths), journal)


class _Run:
    """One run of indexing."""

    def __init__(self, ray: Any, way: OnRay, writer: Writer, changes: Changes, on_progress: OnProgress | None) -> None:
        self.ray, self.way, self.writer, self.changes, self.on_progress = ray, way, writer, changes, on_progress
        self.gone: list[str] = []
        self.files = self.total_files = self.documents = self.tokens = 0
        self.began = time.monotonic()

    def run(self, found: Survey, place: Path) -> IndexingSummary:
        """Read, encode, commit."""
        self.changes.begin(found)
        self.total_files = len(found.to_read)
        files: list[dict[str, Any]] = []
        journal = Journal(place, self.writer.store.version)
        if found.to_read:
            for step in self._finished(found, journal):
                files += step.files
        self.gone += self.changes.finish(found)
        commit_all(self.writer, journal.finished, self.gone)
        self.writer.store.put_files(files)
        if self.changes.prune:
            self.writer.store.delete_files(found.gone)
        journal.drop()
        return self.changes.summary

    def _finished(self, found: Survey, journal: Journal) -> Iterator[Step]:
        """The steps, as the workers finish them."""
        ray, way = self.ray, self.way
        share = way.share.among(ray.nodes())
        size = min(MOST, max(LEAST, sum(file.size for file in found.to_read) // (8 * share.workers)))
        address = whole(self.writer.store.address)
        actor = ray.remote(**share.resources)(Encoder)
        crew: Crew[Step] = Crew(
            ray,
            share.workers,
            lambda: actor.remote(address, way.make, share.threads),
            lambda worker, step: worker.encode.remote(step.picked, *step.blocks),
        )
        last = Step()
        with crew:
            for step, (fragments, tokens) in crew.work(self._steps(found, share.workers, size, last)):
                journal.note(Finished(step.number, fragments, step.ids, [] if self.gone else step.files))
                self.tokens += tokens
                self._tell(step.documents)
                yield step
        yield last

    def _steps(self, found: Survey, workers: int, size: int, last: Step) -> Iterator[Step]:
        """Documents to encode, a step at a time; `last` gets the files after which none is left to encode."""
        step = Step()
        blocks = blocks_of(found.to_read, min(size, BLOCK_BYTES))
        before: set[str] = set()
        problems: list[Any] = []
        source = None
        for seen, documents in self._read(blocks, workers):
            for one in seen:
                if one.file.source != source:
                    source, problems = one.file.source, []
                    before = set(self.changes.ids_by_source.get(source, ()))
                for part in self._pick(one, documents, before, step, size):
                    yield step
                    step = part
                problems += one.problems
                if one.last:
                    record, gone = self.changes.finish_file(one.file, problems, before)
                    step.files.append(record)
                    self.gone += gone
                    self.files += 1
            self._tell(0)
        if step.documents:
            yield step
        else:
            last.files = step.files

    def _pick(self, one: FileSeen, block: Any, before: set[str], step: Step, size: int) -> Iterator[Step]:
        """Put the documents of a file that have to be encoded into a step; a new one, whenever it is full."""
        for document in one.documents:
            id, wanted = self.changes.assign(document.id, document.hash, one.file.source)
            before.discard(id)
            if not wanted:
                continue
            if not step.blocks or step.blocks[-1] is not block:
                step.blocks.append(block)
                step.picked.append([])
            step.picked[-1].append(Picked(document.place, id, one.file.source))
            step.documents += 1
            step.characters += document.characters
            if step.characters >= size or step.documents >= self.way.step_documents:
                step = Step(step.number + 1)
                yield step

    def _read(self, blocks: Iterable[Any], workers: int) -> Iterator[tuple[list[FileSeen], Any]]:
        try:
            yield from read_blocks(self.ray, blocks, ahead=2 * workers + 2, at_once=workers // 2 + 1)
        except self.ray.exceptions.RayTaskError as error:
            raise own_error(error) from error

    def _tell(self, documents: int) -> None:
        self.documents += documents
        if self.on_progress:
            seconds = time.monotonic() - self.began
            self.on_progress(IndexingProgress(self.files, self.total_files, self.documents, self.tokens, seconds))
