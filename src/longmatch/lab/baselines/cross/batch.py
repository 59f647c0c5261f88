"""Batches of document pairs: one row of tokens per pair and view, laid out flat."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from longmatch.lab.baselines.cross.selection import Excerpt, Selection
from longmatch.lab.encoders.flat import FlatTokens, PieceBatch, groups_within
from longmatch.units.tokens import Ints, Tokens

Pair = tuple[Tokens, Tokens]


@dataclass(frozen=True)
class CrossBatch(PieceBatch):
    """Rows of [CLS] a [SEP] b [SEP], concatenated, without padding."""

    second: Tensor  # (rows,) the position of b's first token; on the CPU
    joined_views: int = 1  # consecutive rows that are views of one pair and form one vector

    @staticmethod
    def of(sides: Sequence[tuple[Ints, Ints]], specials: tuple[int, int], joined_views: int = 1) -> "CrossBatch":
        """Build rows from the token ids of a and b.

        >>> batch = CrossBatch.of([(np.array([7, 8]), np.array([9]))], specials=(1, 2))
        >>> batch.text.ids.tolist(), batch.second.tolist()
        ([1, 7, 8, 2, 9, 2], [4])
        """
        text = FlatTokens.of([np.concatenate([a, [specials[1]], b]).astype(np.int64) for a, b in sides], specials)
        return CrossBatch(text, torch.tensor([len(a) + 2 for a, _ in sides]), joined_views)

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.text)

    def types(self, rows: Tensor, mask: Tensor) -> Tensor:
        """Token types of rows that are padded together, 1 for the second document: (rows, longest), as the mask."""
        steps = torch.arange(mask.shape[1], device=mask.device)
        return mask & (steps >= self.second[rows].to(mask.device)[:, None])

    def groups(self, budget: int) -> Iterator["CrossBatch"]:
        """Runs of rows of at most `budget` tokens; a longer row, or a pair's joined rows, is a group by itself."""
        for run in groups_within(self.text.lengths.reshape(-1, self.joined_views).sum(1), budget):
            first, last = (self.joined_views * place for place in run)
            yield CrossBatch(self.text.between(first, last), self.second[first:last], self.joined_views)


@dataclass(frozen=True)
class PairLayout:
    """How pairs are laid out: the sentences selected, the limit per side, and the special tokens."""

    selection: Selection
    limit: int  # tokens per side
    specials: tuple[int, int]
    seed: int = 0

    def excerpts(self, pair: Pair, views: Sequence[int]) -> list[tuple[Excerpt, Excerpt]]:
        """The excerpts read of a pair, one pair of excerpts per view."""
        a, b = pair
        selected = self.selection.choose(a, b, self.limit, views, self.seed)
        return [(Excerpt.of(a, view.a, self.limit), Excerpt.of(b, view.b, self.limit)) for view in selected]

    def rows(self, pair: Pair, excerpts: Sequence[tuple[Excerpt, Excerpt]]) -> list[tuple[Ints, Ints]]:
        """The token ids of both sides of each view."""
        return [(mine.ids(pair[0]), theirs.ids(pair[1])) for mine, theirs in excerpts]

    def lay_out(self, pairs: Iterable[Pair], views: Sequence[int], joined_views: int = 1) -> CrossBatch:
        """All views of the first pair, then of the next: (pairs x views) rows."""
        listed = list(pairs)
        self.selection.prepare(listed)
        rows = [row for pair in listed for row in self.rows(pair, self.excerpts(pair, views))]
        return CrossBatch.of(rows, self.specials, joined_views)
