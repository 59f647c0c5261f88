"""A layer: what one step of encoding makes of each document, as named arrays."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from longmatch.documents.document import Document
from longmatch.matching.matcher import Progress

Array = npt.NDArray[Any]
Arrays = Mapping[str, Array]


class Unhandled(Exception):
    """Why a model cannot handle a document."""


class Layer(ABC):
    """Documents in, arrays out. Layers of equal facts hold the same numbers, whichever model asks for them."""

    name: str
    base: "Layer | None" = None  # a layer this one is computed from
    reads_documents: bool = True  # or are its base's arrays enough? Then it is given documents without text

    @property
    @abstractmethod
    def facts(self) -> Mapping[str, Any]:
        """All that the arrays depend on besides the documents."""

    @abstractmethod
    def make(
        self, documents: Sequence[Document], below: Sequence[Arrays], progress: Progress | None = None
    ) -> list[Arrays]:
        """The arrays of each document; `below` are those of the base layer. Raises for documents it cannot handle."""

    @property
    def key(self) -> str:
        """The layer's folder: its name and a digest of its facts."""
        facts: dict[str, Any] = dict(self.facts) | ({"base": self.base.key} if self.base else {})
        digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
        return f"{self.name}-{digest[:12]}"

    def empty(self) -> Arrays:
        """What stands in for a document that could not be handled."""
        return {name: np.empty((0, *shape), dtype) for name, (dtype, shape) in self.shapes.items()}

    @property
    @abstractmethod
    def shapes(self) -> Mapping[str, tuple[Any, tuple[int, ...]]]:
        """Of each array the type, and the shape behind its first axis."""


def make_each(
    layer: Layer, documents: Sequence[Document], below: Sequence[Arrays], progress: Progress | None = None
) -> list[Arrays | Unhandled]:
    """Make many at once; where that fails, one by one, so that a bad document spoils no other."""
    try:
        return list(layer.make(documents, below, progress))
    except Exception as error:  # whatever a model raises is a fact about the document, and reported as such
        if len(documents) == 1:
            return [error if isinstance(error, Unhandled) else Unhandled(f"{type(error).__name__}: {error}")]
    singles = zip(documents, below or [{}] * len(documents), strict=True)
    return [made for document, under in singles for made in make_each(layer, [document], [under], progress)]
