"""Documents on their way into a store: where they come from, and the processes that read them and make layers."""

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np

from longmatch.documents.document import Document
from longmatch.lab.store.digests import code_digest
from longmatch.lab.store.files import StoredLayer
from longmatch.lab.store.layer import Array, Arrays, DocumentLayer, Unhandled, Unreadable, make_each
from longmatch.parallel import parallel_map

T = TypeVar("T")

READING_CODE = ("documents", "documents/pdf")  # what a document depends on besides its file


@dataclass(frozen=True)
class DocumentSource(Generic[T]):
    """The documents of a collection before they are read."""

    name: str
    fingerprint: str  # changes when the documents do
    items: Callable[[], Iterable[T]]  # light descriptions of the documents, in order
    read: Callable[[T], Document | Unreadable]  # a module-level function: other processes call it


@dataclass(frozen=True)
class Records:
    """What a store says about its documents without their text, one entry per document."""

    ids: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    labels: tuple[str | None, ...] = ()  # the key `label` of a JSON line

    @staticmethod
    def unpack(packed: Array) -> "Records":
        """Records from the bytes that RecordLayer makes of them."""
        return Records(*zip(*json.loads(b"[" + packed.tobytes()[:-1] + b"]"), strict=True))

    def at(self, rows: Sequence[int]) -> "Records":
        """Those of some documents."""
        columns = (self.ids, self.titles, self.labels)
        return Records(*(tuple(column[row] for row in rows) for column in columns))  # type: ignore[arg-type]


class RecordLayer(DocumentLayer):
    """The record of each document as JSON; part of every store."""

    name = "documents"
    shapes: Mapping[str, Any] = {"records": (np.uint8, ())}

    @property
    def facts(self) -> Mapping[str, Any]:
        """The code that reads documents."""
        return {"code": code_digest(*READING_CODE)}

    def make_one(self, document: Document, below: Arrays) -> Arrays:
        """Id, title and label."""
        label = document.metadata.get("label")
        return _packed(document.id, document.title, str(label) if isinstance(label, str | int) else None)

    def make_unreadable(self, document: Unreadable) -> Arrays:
        """The id alone."""
        return _packed(document.id, "", None)


def _packed(*record: str | None) -> Arrays:
    """A record as bytes, with a comma before the next."""
    return {"records": np.frombuffer(json.dumps(record).encode() + b",", dtype=np.uint8)}


@dataclass(frozen=True)
class ReadDocument:
    """A document that was read, with the arrays that the process that read it has made."""

    id: str
    characters: int
    document: Document | Unreadable | None  # None where no other layer needs it
    results: Sequence[Arrays | Unhandled]  # one per layer
    seconds: Sequence[float]  # that each of them took


def read_documents(
    source: DocumentSource[Any],
    layers: Sequence[DocumentLayer],
    stored: Mapping[str, StoredLayer],
    first: int,
    keeps_documents: bool,
    processes: int | None,
) -> Iterator[ReadDocument]:
    """Read the documents from number `first` on and make layers of each, in several processes, in order.

    stored: finished layers that some of these are computed from, by key.
    keeps_documents: whether the results hold the documents too.
    """

    def inputs() -> Iterator[tuple[Any, dict[str, Arrays | Unhandled]]]:
        for number, item in enumerate(source.items()):
            if number >= first:
                below: dict[str, Arrays | Unhandled] = {}
                for key, layer in stored.items():
                    why = layer.unhandled.get(number)
                    below[key] = layer.document(number) if why is None else Unhandled(why)
                yield item, below

    setup = partial(_set_up, source.read, layers, keeps_documents)
    return parallel_map(_read_document, inputs(), processes, setup=setup)


_worker = threading.local()  # what a process works with: sent to it once, not with each document


def _set_up(read: Callable[[T], Document | Unreadable], layers: Sequence[DocumentLayer], keeps_documents: bool) -> None:
    _worker.read, _worker.layers, _worker.keeps_documents = read, layers, keeps_documents


def _read_document(given: tuple[Any, dict[str, Arrays | Unhandled]]) -> ReadDocument:
    item, made = given
    layers: Sequence[DocumentLayer] = _worker.layers
    document: Document | Unreadable = _worker.read(item)
    if isinstance(document, Unreadable):
        unreadable = [layer.make_unreadable(document) for layer in layers]
        return ReadDocument(document.id, 0, document, unreadable, [0.0] * len(layers))
    seconds = []
    for layer in layers:
        started = time.perf_counter()
        below = made[layer.base.key] if layer.base else {}
        made[layer.key] = below if isinstance(below, Unhandled) else make_each(layer, [document], [below])[0]
        seconds.append(time.perf_counter() - started)
    kept, results = (document if _worker.keeps_documents else None), [made[layer.key] for layer in layers]
    return ReadDocument(document.id, len(document.text), kept, results, seconds)
