"""A layer: one kind of named arrays derived from each document of a collection."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from longmatch.documents.document import Document

Array = npt.NDArray[Any]
Arrays = Mapping[str, Array]
Shapes = Mapping[str, tuple[npt.DTypeLike, tuple[int, ...]]]  # of each array: the type, and the shape behind axis 0


class Unhandled(Exception):
    """Why a layer holds nothing for a document."""


@dataclass(frozen=True)
class Unreadable:
    """A document nothing can be read from, and why."""

    id: str
    why: str


class Layer(ABC):
    """What to derive from documents. Layers with equal facts hold the same numbers, whoever asks for them."""

    name: str
    base: "Layer | None" = None  # a layer this one is computed from
    reads_documents: bool = True  # if not, the arrays of the base suffice, and documents come without text

    @property
    @abstractmethod
    def facts(self) -> Mapping[str, Any]:
        """All that the arrays depend on besides the documents and the base."""

    @property
    @abstractmethod
    def shapes(self) -> Shapes:
        """Type and trailing shape of each array."""

    @abstractmethod
    def make(self, documents: Sequence[Document], below: Sequence[Arrays]) -> list[Arrays]:
        """The arrays of each document; `below` are those of the base layer. Raises for documents it cannot handle."""

    @property
    def key(self) -> str:
        """The layer's folder: its name and a digest of its facts."""
        facts: dict[str, Any] = dict(self.facts) | ({"base": self.base.key} if self.base else {})
        digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
        return f"{self.name}-{digest[:12]}"

    def empty(self) -> Arrays:
        """The arrays of a document that could not be handled: no rows."""
        return {name: np.empty((0, *shape), dtype) for name, (dtype, shape) in self.shapes.items()}


class DocumentLayer(Layer):
    """A layer made from one document at a time, without a GPU: several processes share the work."""

    @abstractmethod
    def make_one(self, document: Document, below: Arrays) -> Arrays:
        """The arrays of one document; `below` are those of the base layer."""

    def make_unreadable(self, document: Unreadable) -> Arrays | Unhandled:
        """What it holds for an unreadable document: nothing."""
        return Unhandled(document.why)

    def make(self, documents: Sequence[Document], below: Sequence[Arrays]) -> list[Arrays]:
        """The arrays of each document, made in this process."""
        return [self.make_one(document, under) for document, under in zip(documents, below, strict=True)]


def make_each(layer: Layer, documents: Sequence[Document], below: Sequence[Arrays]) -> list[Arrays | Unhandled]:
    """Make many at once; where that fails, one by one, so that a bad document spoils no other."""
    if not documents:
        return []
    try:
        return list(layer.make(documents, below))
    except Exception as error:  # whatever a model raises is a fact about the document, and reported as such
        if len(documents) == 1:
            return [error if isinstance(error, Unhandled) else Unhandled(f"{type(error).__name__}: {error}")]
    singles = zip(documents, below, strict=True)
    return [result for document, under in singles for result in make_each(layer, [document], [under])]


def with_bases(layers: Sequence[Layer]) -> list[Layer]:
    """The layers and those they are computed from, each once, bases first."""
    found: dict[str, Layer] = {}
    for layer in layers:
        for each in [*with_bases([layer.base] if layer.base else []), layer]:
            found.setdefault(each.key, each)
    return list(found.values())
