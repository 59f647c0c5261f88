"""Pieces of text as flat token ids; pieces of similar length are padded together when they are encoded."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from longmatch.encoders.engine import lengths_of, token_batches
from longmatch.lab.encoders.ragged import offsets_of, to_device
from longmatch.units.tokens import Ints, Tokens

CPU_BUDGET, GPU_BUDGET = 1_024, 32_768  # tokens per padded batch: small ones fit a CPU's cache


@dataclass(frozen=True)
class FlatTokens:
    """Token ids of pieces, concatenated without padding.

    >>> flat = FlatTokens.of([np.array([7, 8, 9]), np.array([5])], specials=(1, 2))
    >>> flat.ids.tolist(), flat.lengths.tolist()
    ([1, 7, 8, 9, 2, 1, 5, 2], [5, 3])
    """

    ids: Tensor  # (tokens,) including start and end tokens
    lengths: Tensor  # (pieces,) tokens in each; on the CPU, where batches are planned

    @staticmethod
    def of(pieces: Sequence[npt.NDArray[np.int64]], specials: tuple[int, int]) -> "FlatTokens":
        """Concatenate pieces, each between the start and end tokens (`specials`)."""
        lengths = lengths_of(pieces) + 2
        ends = lengths.cumsum()
        ids, inside = np.empty(lengths.sum(), dtype=np.int64), np.ones(lengths.sum(), dtype=bool)
        for positions, special in zip((ends - lengths, ends - 1), specials, strict=True):
            ids[positions], inside[positions] = special, False
        ids[inside] = np.concatenate(pieces)
        return FlatTokens(torch.from_numpy(ids), torch.from_numpy(lengths))

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def tokens(self) -> int:
        """Number of tokens, special ones included."""
        return len(self.ids)

    def to(self, device: torch.device) -> "FlatTokens":
        """Copy to a device."""
        return replace(self, ids=to_device(self.ids, device))

    def between(self, first: int, last: int) -> "FlatTokens":
        """Pieces `first` up to, not including, `last`."""
        start, end = offsets_of(self.lengths)[[first, last]].tolist()
        return FlatTokens(self.ids[start:end], self.lengths[first:last])

    def groups(self, budget: int) -> Iterator["FlatTokens"]:
        """Consecutive pieces of at most `budget` tokens together; a longer piece gets its own group."""
        return (self.between(*run) for run in groups_within(self.lengths, budget))

    def by_length(self) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Batches of pieces of similar length, longest first: their indices, positions in `ids`, and the mask.

        Positions and mask are (pieces, longest length); the position of padding is 0.
        """
        device = self.ids.device
        starts, budget = offsets_of(self.lengths), CPU_BUDGET if device.type == "cpu" else GPU_BUDGET
        for batch in token_batches(self.lengths.numpy(), budget):
            rows = torch.from_numpy(batch)
            steps = torch.arange(int(self.lengths[rows].max()), device=device)
            mask = steps < self.lengths[rows].to(device)[:, None]
            yield rows, torch.where(mask, starts[rows].to(device)[:, None] + steps, 0), mask

    def encode_each(self, encode: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Tensor:
        """One vector per piece, in order, encoded in batches of similar length: (pieces, width).

        `encode` gets the ids of some pieces (pieces, longest length), their mask and their indices.
        """
        order, vectors = [], []
        for rows, positions, mask in self.by_length():
            order.append(rows)
            vectors.append(encode(self.ids[positions] * mask, mask, rows))
        return torch.cat(vectors)[torch.cat(order).argsort().to(self.ids.device)]


@dataclass(frozen=True)
class PieceBatch:
    """Documents split into pieces, one document after another; each model's subclass adds which pieces are whose.

    What subclasses add stays on the CPU, where batches are planned: reading it back from a GPU would wait for all its
    queued work.
    """

    text: FlatTokens  # all pieces

    @property
    def tokens(self) -> int:
        """Number of tokens the model reads, special ones included."""
        return self.text.tokens

    @property
    def device(self) -> torch.device:
        """The device of the text."""
        return self.text.ids.device

    def to(self, device: torch.device) -> Self:
        """Copy the text to a device."""
        return replace(self, text=self.text.to(device))


@dataclass(frozen=True)
class DocumentPieces(PieceBatch):
    """The pieces of documents, and how many each document has; there are no padding pieces."""

    counts: Tensor  # (documents,) pieces of each

    @staticmethod
    def of(
        documents: Sequence[Tokens], cuts: Sequence[tuple[Ints, Ints]], specials: tuple[int, int]
    ) -> "DocumentPieces":
        """Of each document the pieces that its cuts say: the tokens first[i]:last[i]."""
        pieces = []
        for tokens, (first, last) in zip(documents, cuts, strict=True):
            pieces += [tokens.ids[a:b] for a, b in zip(first.tolist(), last.tolist(), strict=True)]
        return DocumentPieces(FlatTokens.of(pieces, specials), torch.tensor([len(first) for first, _ in cuts]))

    def __len__(self) -> int:
        """Number of documents."""
        return len(self.counts)

    @property
    def lengths(self) -> Tensor:
        """The tokens of each piece without the two special ones: (pieces,)."""
        return self.text.lengths - 2

    @property
    def position(self) -> Tensor:
        """The position of each piece in its document: (pieces,)."""
        starts = torch.repeat_interleave(offsets_of(self.counts)[:-1], self.counts)
        return to_device(torch.arange(len(starts)) - starts, self.device)

    def runs(self, budget: int) -> Iterator[tuple[int, int]]:
        """Runs of documents of at most `budget` tokens together; a longer document is a run by itself."""
        return groups_within(offsets_of(self.text.lengths)[offsets_of(self.counts)].diff(), budget)

    def between(self, first: int, last: int) -> Self:
        """The documents first:last."""
        start, end = offsets_of(self.counts)[[first, last]].tolist()
        return replace(self, text=self.text.between(start, end), counts=self.counts[first:last])

    def groups(self, budget: int) -> Iterator[Self]:
        """The batch in runs of documents of at most `budget` tokens."""
        return (self.between(*run) for run in self.runs(budget))


def mean_pool(hidden: Tensor, mask: Tensor) -> Tensor:
    """Mean over all tokens but padding: (pieces, tokens, width) -> (pieces, width)."""
    weights = mask[..., None].to(hidden.dtype)
    mean: Tensor = (hidden * weights).sum(1, dtype=torch.float32) / weights.sum(1, dtype=torch.float32)
    return mean


def groups_within(lengths: Tensor, budget: int) -> Iterator[tuple[int, int]]:
    """Runs of consecutive pieces with at most `budget` tokens together; a longer piece is its own run.

    >>> list(groups_within(torch.tensor([3, 4, 9, 1, 1]), budget=8))
    [(0, 2), (2, 3), (3, 5)]
    """
    ends, first = lengths.cumsum(0), 0
    while first < len(lengths):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(torch.searchsorted(ends, before + budget, right=True)))
        yield first, last
        first = last
