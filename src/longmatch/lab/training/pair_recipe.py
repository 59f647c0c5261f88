"""What all recipes share that learn vectors from labelled pairs of documents: batches, bounded memory, measures."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from longmatch.encoders.transfer import to_device
from longmatch.lab.training.caching import cached_backward
from longmatch.lab.training.data import TrainingData
from longmatch.lab.training.labelled_recipe import LabelledRecipe, LabelledSettings
from longmatch.lab.training.pairs import cosine_measures
from longmatch.lab.training.samplers import Ints
from longmatch.lab.training.settings import TrainingSettings
from longmatch.units import Tokens

LAID_OUT = 64  # documents at a time, where many are to be read


class Documents(Protocol):
    """Some documents, laid out as a model reads them."""

    @property
    def tokens(self) -> int:
        """How many tokens the model reads."""

    def to(self, device: torch.device) -> Self:
        """The same on another device."""

    def groups(self, budget: int) -> Iterator[Self]:
        """Runs of whole documents of at most so many tokens each; a longer document is a group of its own."""


D = TypeVar("D", bound=Documents)
D_co = TypeVar("D_co", bound=Documents, covariant=True)


class Layout(Protocol[D_co]):
    """How documents are cut for a model."""

    def lay_out(self, documents: Sequence[Tokens]) -> D_co:
        """All of them, in their order."""


class PairSettings(LabelledSettings, Protocol):
    """Which of two ways of learning it is."""

    @property
    def contrastive(self) -> bool:
        """Are all documents of a batch told from each other? Then only pairs that belong together are drawn."""


@dataclass(frozen=True)
class PairBatch(Generic[D]):
    """The documents of some pairs, each once, and which of them belong together: pair by pair, or every two."""

    documents: D
    together: Tensor  # (3, pairs): two documents of the batch, and the label; or (vectors, vectors): 1 where they do

    @property
    def tokens(self) -> int:
        """How many tokens the model reads."""
        return self.documents.tokens

    def to(self, device: torch.device) -> "PairBatch[D]":
        """The same on another device."""
        return PairBatch(self.documents.to(device), to_device(self.together, device))


class PairRecipe(LabelledRecipe[PairBatch[D]], Generic[D]):
    """A recipe says how documents are cut for its model, what their vectors are, and what is learnt of them.

    A contrastive loss draws only the pairs that belong together.
    """

    own: PairSettings
    layout: Layout[D]

    def __init__(self, data: TrainingData, model: Any, tokenizer: Any, settings: TrainingSettings, own: Any) -> None:
        super().__init__(data, model, tokenizer, settings, own)
        self.layout = self._layout()

    @abstractmethod
    def _layout(self) -> Layout[D]:
        """How documents are cut for the model."""

    @abstractmethod
    def _vectors(self, documents: D) -> Tensor:
        """What the loss compares: (rows, width), a row a document or several."""

    @abstractmethod
    def _loss(self, vectors: Tensor, batch: PairBatch[D]) -> Tensor:
        """Of the vectors of the whole batch; in full precision."""

    def _whole(self, documents: D) -> Tensor:
        """What validation compares: (documents, width)."""
        return self._vectors(documents)

    def draw(self, step: int) -> PairBatch[D]:
        """The documents of some pairs, each document once."""
        rows = self._drawn(step)
        numbers, places = self.pairs.documents(rows)
        told = self.data.related(numbers) if self.own.contrastive else np.stack([*places, self.pairs.label[rows]])
        return PairBatch(self._lay_out(numbers), torch.from_numpy(told))

    def backward(self, model: PreTrainedModel, batch: PairBatch[D]) -> dict[str, Tensor]:
        """One pass where the device holds the whole batch; else, by gradient caching, as many as it takes."""

        def loss(vectors: Tensor) -> Tensor:
            with torch.autocast(vectors.device.type, enabled=False):
                return self._loss(vectors, batch)

        return {"loss": cached_backward(self._vectors, self._pieces(batch.documents), loss)}

    def validate(self, model: PreTrainedModel) -> dict[str, float]:
        """Cosines of the validation pairs: average precision decides."""
        return cosine_measures(self.held_out, self._document_vectors, self.own.validation_pairs)

    def _learnt_from(self) -> Ints:
        return np.flatnonzero(self.pairs.label) if self.own.contrastive else super()._learnt_from()

    def _lay_out(self, numbers: Ints) -> D:
        return self.layout.lay_out([self.data.shelf[number] for number in numbers.tolist()])

    def _pieces(self, documents: D) -> list[D]:
        """Runs of documents that the device holds at a time."""
        return list(documents.groups(self._budget))

    @torch.no_grad()
    def _document_vectors(self, numbers: Ints) -> Tensor:
        """The vectors of documents, as many at a time as the device holds: (documents, width), on the CPU."""
        parts = np.array_split(numbers, -(-len(numbers) // LAID_OUT))
        pieces = (piece.to(self.model.device) for part in parts for piece in self._pieces(self._lay_out(part)))
        return torch.cat([self._whole(piece).float().cpu() for piece in pieces])
