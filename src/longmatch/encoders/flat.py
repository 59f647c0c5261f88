"""Pieces of text laid out flat for training: those of about one length are padded together, when they are read."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from longmatch.encoders.batches import lengths_of, token_batches
from longmatch.encoders.ragged import offsets_of
from longmatch.encoders.transfer import moved

CPU_BUDGET, GPU_BUDGET = 1_024, 32_768  # tokens read side by side: small ones stay in a CPU's cache


@dataclass(frozen=True)
class Flat:
    """Pieces as token ids, one after another, without padding.

    >>> flat = Flat.of([np.array([7, 8, 9]), np.array([5])], specials=(1, 2))
    >>> flat.ids.tolist(), flat.lengths.tolist()
    ([1, 7, 8, 9, 2, 1, 5, 2], [5, 3])
    """

    ids: Tensor  # (tokens,) start and end tokens included
    lengths: Tensor  # (pieces,) tokens in each; stays on the CPU, for it decides what is read together

    @staticmethod
    def of(pieces: Sequence[npt.NDArray[np.int64]], specials: tuple[int, int]) -> "Flat":
        """Put the start and end tokens around each piece, and all of them in a row."""
        lengths = lengths_of(pieces) + 2
        ends = lengths.cumsum()
        ids, inside = np.empty(lengths.sum(), dtype=np.int64), np.ones(lengths.sum(), dtype=bool)
        for places, special in zip((ends - lengths, ends - 1), specials, strict=True):
            ids[places], inside[places] = special, False
        ids[inside] = np.concatenate(pieces)
        return Flat(torch.from_numpy(ids), torch.from_numpy(lengths))

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def tokens(self) -> int:
        """How many tokens there are, special ones included."""
        return len(self.ids)

    def to(self, device: torch.device) -> "Flat":
        """The same on another device."""
        return replace(self, ids=moved(self.ids, device))

    def between(self, first: int, last: int) -> "Flat":
        """A run of the pieces."""
        start, end = offsets_of(self.lengths)[[first, last]].tolist()
        return Flat(self.ids[start:end], self.lengths[first:last])

    def groups(self, budget: int) -> Iterator["Flat"]:
        """Runs of pieces of at most `budget` tokens each; a longer piece is a group of its own."""
        return (self.between(*run) for run in groups_within(self.lengths, budget))

    def by_length(self) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Pieces of about one length at a time, the longest first: which, where their tokens stand in `ids`, the mask.

        The places and the mask are (pieces, longest of them); the place of padding is 0.
        """
        device = self.ids.device
        starts, budget = offsets_of(self.lengths), CPU_BUDGET if device.type == "cpu" else GPU_BUDGET
        for chosen in token_batches(self.lengths.numpy(), budget):
            rows = torch.from_numpy(chosen)
            steps = torch.arange(int(self.lengths[rows].max()), device=device)
            mask = steps < self.lengths[rows].to(device)[:, None]
            yield rows, torch.where(mask, starts[rows].to(device)[:, None] + steps, 0), mask

    def each(self, encode: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Tensor:
        """One vector a piece, in their order, whichever are read together: (pieces, width).

        `encode` is given the ids of some pieces (pieces, longest of them), the mask, and which pieces they are.
        """
        order, found = [], []
        for rows, places, mask in self.by_length():
            order.append(rows)
            found.append(encode(self.ids[places] * mask, mask, rows))
        return torch.cat(found)[torch.cat(order).argsort().to(self.ids.device)]


@dataclass(frozen=True)
class InPieces:
    """Documents cut into pieces, one document after another; which pieces are whose, a model's own batch adds.

    What it adds stays on the CPU: it decides what is read together, and to ask a GPU for it is to wait until that has
    done all its work.
    """

    text: Flat  # the tokens of each piece

    @property
    def tokens(self) -> int:
        """How many tokens the model reads, special ones included."""
        return self.text.tokens

    @property
    def device(self) -> torch.device:
        """Where the text is."""
        return self.text.ids.device

    def to(self, device: torch.device) -> Self:
        """The same, its text on another device."""
        return replace(self, text=self.text.to(device))

    def _runs(self, counts: Tensor, budget: int) -> Iterator[tuple[int, int]]:
        """Runs of documents of so many pieces each, at most `budget` tokens together; a longer one is its own run."""
        return groups_within(offsets_of(self.text.lengths)[offsets_of(counts)].diff(), budget)


def mean_of_tokens(hidden: Tensor, mask: Tensor) -> Tensor:
    """The mean over the real tokens, start and end among them: (pieces, tokens, width) -> (pieces, width)."""
    weights = mask[..., None].to(hidden.dtype)
    mean: Tensor = (hidden * weights).sum(1, dtype=torch.float32) / weights.sum(1, dtype=torch.float32)
    return mean


def groups_within(lengths: Tensor, budget: int) -> Iterator[tuple[int, int]]:
    """Runs of at most `budget` tokens together; a longer one is a run of its own.

    >>> list(groups_within(torch.tensor([3, 4, 9, 1, 1]), budget=8))
    [(0, 2), (2, 3), (3, 5)]
    """
    ends, first = lengths.cumsum(0), 0
    while first < len(lengths):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(torch.searchsorted(ends, before + budget, right=True)))
        yield first, last
        first = last
