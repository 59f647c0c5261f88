"""A collection's layers in one folder: what is there is not made again, and what is half-written is never trusted."""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock

from longmatch.documents.document import Document
from longmatch.errors import LongmatchError, ReadError
from longmatch.lab.store.documents import DocumentSource, ReadDocument, RecordLayer, Records, read_documents
from longmatch.lab.store.files import LayerWriter, StoredLayer
from longmatch.lab.store.layer import Arrays, DocumentLayer, Layer, Unhandled, Unreadable, make_each, with_bases
from longmatch.matching.matcher import Progress
from longmatch.parallel import default_processes

CHARACTERS = 4_000_000  # of text in a shard


class LayerStore:
    """The layers of one collection. Several processes may share it: one makes a layer while the others wait.

    folder: holds one folder per layer.
    source: the documents; not needed to derive layers from those that are already there.
    processes: how many processes read documents; by default the number set by `use_processes`.
    """

    def __init__(self, folder: Path, source: DocumentSource[Any] | None = None, processes: int | None = None) -> None:
        self.folder, self._source, self._processes = Path(folder), source, processes

    @classmethod
    def of(cls, parent: Path, source: DocumentSource[Any], processes: int | None = None) -> "LayerStore":
        """The store of a collection in a folder for many; when the documents change, it is another one."""
        return cls(Path(parent) / f"{source.name}-{source.fingerprint}", source, processes)

    def build(self, layers: Sequence[Layer], progress: Progress | None = None) -> list[StoredLayer]:
        """Open layers, after making those that are missing or damaged, and all that they are computed from."""
        needed = with_bases([RecordLayer(), *layers]) if layers else []
        from_documents = [layer for layer in needed if layer.reads_documents]  # made in one pass over the documents
        steps = [from_documents, *([layer] for layer in needed if not layer.reads_documents)]
        steps = [step for step in steps if self._missing(step)]
        report = _shared(progress, len(steps))
        for step in steps:
            with self._locked(self._missing(step)) as missing:
                if missing and step is from_documents:
                    self._make_from_documents(missing, report)
                elif missing:
                    self._derive(missing[0], report)
        return [self.open(layer) for layer in layers]

    def open(self, layer: Layer) -> StoredLayer:
        """A layer that is complete; raises a ReadError for any other."""
        return StoredLayer(self.folder / layer.key)

    def records(self) -> Records:
        """Ids, titles and labels of the documents."""
        return Records.unpack(self.open(RecordLayer()).mapped("records"))

    def seconds(self, layers: Sequence[Layer]) -> float:
        """How long it took to make these layers and all that they are computed from."""
        return sum(self.open(layer).seconds for layer in with_bases(layers))

    def _missing(self, layers: Sequence[Layer]) -> list[Layer]:
        """Those that are not there, or damaged."""
        missing = []
        for layer in layers:
            try:
                self.open(layer)
            except ReadError:
                missing.append(layer)
        return missing

    @contextmanager
    def _locked(self, layers: Sequence[Layer]) -> Iterator[list[Layer]]:
        """Keep other processes from making these layers; gives those that none of them has made in the meantime."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with ExitStack() as locks:
                for key in sorted(layer.key for layer in layers):  # in one order everywhere: no two wait for each other
                    locks.enter_context(FileLock(self.folder / f"{key}.lock"))
                yield self._missing(layers)
        except OSError as error:
            raise LongmatchError(
                f"{self.folder} cannot be written ({error.strerror or error}). Name a folder you may write to."
            ) from error

    @contextmanager
    def _writers(self, layers: Sequence[Layer]) -> Iterator[list[LayerWriter]]:
        """Writers that have come equally far; after an interruption a later build goes on from there."""
        writers = [LayerWriter(self.folder / layer.key, layer) for layer in layers]
        try:
            common = set.intersection(*(set(writer.ends) for writer in writers))
            for writer in writers:
                writer.truncate(max(common, default=0))
            yield writers
            for writer in writers:
                writer.finish()
        except (ReadError, _SameIdError):  # the documents must change first: they will then have another store
            for writer in writers:
                writer.discard()
            raise
        finally:
            for writer in writers:
                writer.close()

    def _make_from_documents(self, layers: Sequence[Layer], progress: Progress) -> None:
        """Make layers that read documents, shard by shard: some of each document, others of many together."""
        if self._source is None:
            raise ValueError(f"{self.folder} lacks the layer {layers[0].name}, and there are no documents to read.")
        each = [layer for layer in layers if isinstance(layer, DocumentLayer)]
        together = [layer for layer in layers if not isinstance(layer, DocumentLayer)]
        keys = {layer.key for layer in layers}
        stored = {base.key: self.open(base) for layer in each if (base := layer.base) and base.key not in keys}
        with self._writers([*each, *together]) as writers:
            first = writers[0].documents
            rows = read_documents(self._source, each, stored, first, bool(together), self._processes)
            if each and isinstance(each[0], RecordLayer):
                rows = _with_ids_of_their_own(rows, Records.unpack(writers[0].written("records")).ids)
            processes = self._processes or default_processes()
            for shard in _shards(rows, progress):
                for i, writer in enumerate(writers[: len(each)]):
                    writer.add([row.results[i] for row in shard], sum(row.seconds[i] for row in shard) / processes)
                for layer, writer in zip(together, writers[len(each) :], strict=True):
                    writer.add(*_make(layer, [row.document for row in shard], [{}] * len(shard)))

    def _derive(self, layer: Layer, progress: Progress) -> None:
        """Make a layer from its base alone, shard by shard."""
        assert layer.base is not None
        base, ids = self.open(layer.base), self.records().ids
        with self._writers([layer]) as (writer,):
            for first, last in base.ranges:
                if first >= writer.documents:
                    documents: list[Document | Unreadable] = []  # without text
                    for number in range(first, last):
                        why = base.unhandled.get(number)
                        bare = Document(ids[number], "", "", ())
                        documents.append(bare if why is None else Unreadable(ids[number], why))
                    writer.add(*_make(layer, documents, [base.document(number) for number in range(first, last)]))
                progress(last - first)


class _SameIdError(LongmatchError):
    """Two documents have the same id."""


def _make(
    layer: Layer, documents: Sequence[Document | Unreadable | None], below: Sequence[Arrays]
) -> tuple[list[Arrays | Unhandled], float]:
    """A layer's arrays of many documents, and how long they took to make; none for documents that cannot be read."""
    able = [(each, under) for each, under in zip(documents, below, strict=True) if isinstance(each, Document)]
    started = time.perf_counter()
    made = iter(make_each(layer, [document for document, _ in able], [under for _, under in able]))
    seconds = time.perf_counter() - started
    return [Unhandled(each.why) if isinstance(each, Unreadable) else next(made) for each in documents], seconds


def _shards(rows: Iterable[ReadDocument], progress: Progress) -> Iterator[list[ReadDocument]]:
    """Consecutive rows of about CHARACTERS of text."""
    shard: list[ReadDocument] = []
    size = 0
    for row in rows:
        if shard and size + row.characters > CHARACTERS:
            yield shard
            shard, size = [], 0
        shard.append(row)
        size += row.characters
        progress(1)
    if shard:
        yield shard


def _with_ids_of_their_own(rows: Iterable[ReadDocument], before: Sequence[str]) -> Iterator[ReadDocument]:
    seen = set(before)
    for row in rows:
        if row.id in seen:
            raise _SameIdError(f"More than one document has the id {row.id!r}. Give each its own.")
        seen.add(row.id)
        yield row


def _shared(progress: Progress | None, steps: int) -> Progress:
    """Progress over several passes over the documents that counts each document once."""
    passed = 0

    def report(count: int) -> None:
        nonlocal passed
        before, passed = passed // steps, passed + count
        if progress and passed // steps > before:
            progress(passed // steps - before)

    return report
