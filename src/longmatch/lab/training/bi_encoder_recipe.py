"""Base class of the recipes for bi-encoders: document vectors learnt from labelled pairs, in bounded memory."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from longmatch.lab.encoders.ragged import to_device
from longmatch.lab.training.labelled_recipe import LabelledRecipe, LabelledSettings, cosine_measures
from longmatch.units import Tokens
from longmatch.units.tokens import Ints

P = TypeVar("P")
CONTRASTIVE_BUDGET: Mapping[str, Any] = {"documents": 100, "learning_rate": 1e-4, "epochs": 1.5, "least_steps": 100}
"""The defaults of recipes that contrast whole documents, chosen on validation pairs."""
LAID_OUT = 64  # documents laid out at a time for validation


class DocumentBatch(Protocol):
    """Documents, laid out as the model reads them."""

    @property
    def tokens(self) -> int:
        """The number of tokens the model reads."""

    def to(self, device: torch.device) -> Self:
        """A copy on another device."""

    def groups(self, budget: int) -> Iterator[Self]:
        """Runs of whole documents of at most `budget` tokens; a longer document is a group by itself."""


D = TypeVar("D", bound=DocumentBatch)
D_co = TypeVar("D_co", bound=DocumentBatch, covariant=True)


class DocumentLayout(Protocol[D_co]):
    """How documents are laid out for a model."""

    def lay_out(self, documents: Sequence[Tokens]) -> D_co:
        """Documents as one batch, in their order."""


class BiEncoderSettings(LabelledSettings, Protocol):
    """The settings that all such recipes have."""

    @property
    def contrastive(self) -> bool:
        """Whether the loss contrasts all documents of a batch; then only matches are sampled."""


@dataclass(frozen=True)
class PairBatch(Generic[D]):
    """The distinct documents of some pairs, and the labels: pair by pair, or for every two documents."""

    documents: D
    targets: Tensor  # (3, pairs): places of both documents in the batch, label; or (rows, rows): 1 for a match

    @property
    def tokens(self) -> int:
        """The number of tokens the model reads."""
        return self.documents.tokens

    def to(self, device: torch.device) -> "PairBatch[D]":
        """A copy on another device."""
        return PairBatch(self.documents.to(device), to_device(self.targets, device))


class BiEncoderRecipe(LabelledRecipe[PairBatch[D]], Generic[D]):
    """A subclass defines the layout of documents, their vectors, and the loss over these.

    With a contrastive loss only matches are sampled.
    """

    options: BiEncoderSettings
    layout: DocumentLayout[D]

    def prepare(self) -> None:
        """Lay documents out as the model reads them."""
        self.layout = self._layout()

    @abstractmethod
    def _layout(self) -> DocumentLayout[D]:
        """How documents are laid out for the model."""

    @abstractmethod
    def _vectors(self, documents: D) -> Tensor:
        """The vectors that the loss compares, one or more rows per document: (rows, width)."""

    @abstractmethod
    def _loss(self, vectors: Tensor, batch: PairBatch[D]) -> Tensor:
        """The loss over the vectors of the whole batch, in full precision."""

    def _validation_vectors(self, documents: D) -> Tensor:
        """The vectors that validation compares: (documents, width)."""
        return self._vectors(documents)

    def draw(self, step: int) -> PairBatch[D]:
        """The documents of a step's pairs, each once, with their labels."""
        rows = self.batch_rows(step)
        numbers, places = self.pairs.documents(rows)
        if self.options.contrastive:
            targets = self.data.related(numbers)
        else:
            targets = np.stack([*places, self.pairs.label[rows]])
        return PairBatch(self._lay_out(numbers), torch.from_numpy(targets))

    def backward(self, model: PreTrainedModel, batch: PairBatch[D]) -> dict[str, Tensor]:
        """One pass if the device holds the whole batch; otherwise several, by gradient caching."""

        def loss(vectors: Tensor) -> Tensor:
            with torch.autocast(vectors.device.type, enabled=False):
                return self._loss(vectors, batch)

        pieces = list(batch.documents.groups(self.tokens_per_pass))
        return {"loss": cached_backward(self._vectors, pieces, loss)}

    def validate(self, model: PreTrainedModel) -> dict[str, float]:
        """The measures of the validation pairs' cosines; average precision selects the weights."""
        return cosine_measures(self.held_out, self.document_vectors, self.options.validation_pairs)

    def _training_rows(self) -> Ints:
        return np.flatnonzero(self.pairs.label) if self.options.contrastive else super()._training_rows()

    def _lay_out(self, numbers: Ints) -> D:
        return self.layout.lay_out([self.data.tokens[number] for number in numbers.tolist()])

    @torch.no_grad()
    def document_vectors(self, numbers: Ints) -> Tensor:
        """The vectors of documents, computed within the token budget: (documents, width), on the CPU."""
        parts = np.array_split(numbers, -(-len(numbers) // LAID_OUT))
        pieces = (piece for part in parts for piece in self._lay_out(part).groups(self.tokens_per_pass))
        return torch.cat([self._validation_vectors(piece.to(self.model.device)).float().cpu() for piece in pieces])


def cached_backward(encode: Callable[[P], Tensor], pieces: Sequence[P], loss: Callable[[Tensor], Tensor]) -> Tensor:
    """Backpropagate a loss over the vectors of all pieces while holding the graph of only one piece in memory.

    A contrastive loss needs the vectors of the whole batch, but not the activations behind them. So every piece is
    encoded twice: first without a graph, to get the vectors, the loss and its gradient with respect to each vector;
    then with a graph, through which that gradient is propagated. The second pass replays the random numbers of the
    first (dropout), so the gradient equals that of the whole batch in one pass. Gradients accumulate in the parameters
    as after `loss.backward()`, including any parameters of the loss itself; the loss is returned without a graph.

    `encode` maps a piece to its vectors (rows, width); `loss` takes the rows of all pieces, concatenated. A single
    piece is encoded only once.
    """
    if len(pieces) == 1:
        whole = loss(encode(pieces[0]))
        whole.backward()
        return whole.detach()
    states: list[tuple[Tensor, list[Tensor]]] = []
    parts: list[Tensor] = []
    with torch.no_grad():
        for piece in pieces:
            states.append(_random_state())
            parts.append(encode(piece))
    vectors = torch.cat(parts).detach().requires_grad_()
    value = loss(vectors)
    value.backward()
    assert vectors.grad is not None
    gradients = vectors.grad.split([len(part) for part in parts])
    after = _random_state()
    for piece, state, gradient in zip(pieces, states, gradients, strict=True):
        _restore_random_state(state)
        encode(piece).backward(gradient)
    _restore_random_state(after)
    return value.detach()


def _random_state() -> tuple[Tensor, list[Tensor]]:
    """Of torch's generators on the CPU and on each GPU."""
    return torch.get_rng_state(), torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []


def _restore_random_state(state: tuple[Tensor, list[Tensor]]) -> None:
    torch.set_rng_state(state[0])
    if state[1]:
        torch.cuda.set_rng_state_all(state[1])
