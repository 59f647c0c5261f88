"""Pairs of documents as the cross-encoder reads them: one row of tokens a pair and view, laid out flat."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from longmatch.encoders.flat import FlatTokens, PieceBatch, groups_within
from longmatch.lab.baselines.cross.selection import Excerpt, Selection
from longmatch.units.tokens import Ints, Tokens

Pair = tuple[Tokens, Tokens]


@dataclass(frozen=True)
class CrossBatch(PieceBatch):
    """Rows of [CLS] a [SEP] b [SEP], one after another, without padding."""

    second: Tensor  # (rows,) where the tokens of b begin; on the CPU
    joined: int = 1  # so many rows, one after another, are views of one pair that become one vector

    @staticmethod
    def of(sides: Sequence[tuple[Ints, Ints]], specials: tuple[int, int], joined: int = 1) -> "CrossBatch":
        """From the token ids of a and b.

        >>> batch = CrossBatch.of([(np.array([7, 8]), np.array([9]))], specials=(1, 2))
        >>> batch.text.ids.tolist(), batch.second.tolist()
        ([1, 7, 8, 2, 9, 2], [4])
        """
        text = FlatTokens.of([np.concatenate([a, [specials[1]], b]).astype(np.int64) for a, b in sides], specials)
        return CrossBatch(text, torch.tensor([len(a) + 2 for a, _ in sides]), joined)

    def __len__(self) -> int:
        """Rows."""
        return len(self.text)

    def types(self, rows: Tensor, mask: Tensor) -> Tensor:
        """1 for the tokens of the second document, of some rows padded together: as the mask, (rows, longest)."""
        steps = torch.arange(mask.shape[1], device=mask.device)
        return mask & (steps >= self.second[rows].to(mask.device)[:, None])

    def groups(self, budget: int) -> Iterator["CrossBatch"]:
        """Runs of rows of at most `budget` tokens each; what is longer alone, a row or a pair's, is its own group."""
        for run in groups_within(self.text.lengths.reshape(-1, self.joined).sum(1), budget):
            first, last = (self.joined * place for place in run)
            yield CrossBatch(self.text.between(first, last), self.second[first:last], self.joined)


@dataclass(frozen=True)
class Layout:
    """What is read of two documents, and the special tokens around it."""

    selection: Selection
    limit: int  # tokens a side
    specials: tuple[int, int]
    seed: int = 0

    def excerpts(self, pair: Pair, views: Sequence[int]) -> list[tuple[Excerpt, Excerpt]]:
        """What is read of a pair in each view."""
        a, b = pair
        chosen = self.selection.choose(a, b, self.limit, views, self.seed)
        return [(Excerpt.of(a, one.a, self.limit), Excerpt.of(b, one.b, self.limit)) for one in chosen]

    def rows(self, pair: Pair, excerpts: Sequence[tuple[Excerpt, Excerpt]]) -> list[tuple[Ints, Ints]]:
        """The token ids of either side, of each excerpt."""
        return [(mine.ids(pair[0]), theirs.ids(pair[1])) for mine, theirs in excerpts]

    def lay_out(self, pairs: Iterable[Pair], views: Sequence[int], joined: int = 1) -> CrossBatch:
        """All views of the first pair, then of the next: (pairs x views) rows."""
        held = list(pairs)
        self.selection.prepare(held)
        rows = [row for pair in held for row in self.rows(pair, self.excerpts(pair, views))]
        return CrossBatch.of(rows, self.specials, joined)
