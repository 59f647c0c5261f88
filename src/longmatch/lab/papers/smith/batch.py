"""Documents as SMITH reads them (section 4.1.1): greedily filled blocks, laid out flat."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from longmatch.lab.encoders.flat import FlatTokens, PieceBatch
from longmatch.lab.encoders.ragged import offsets_of, to_device
from longmatch.units.chunking import block_ranges
from longmatch.units.tokens import Ints, Tokens


@dataclass(frozen=True)
class BlockBatch(PieceBatch):
    """The blocks of a batch of documents, one after another; there are no padding blocks."""

    counts: Tensor  # (documents,) blocks of each document

    def __len__(self) -> int:
        """Number of documents."""
        return len(self.counts)

    @property
    def position(self) -> Tensor:
        """The position of each block in its document: (blocks,)."""
        starts = torch.repeat_interleave(offsets_of(self.counts)[:-1], self.counts)
        return to_device(torch.arange(len(starts)) - starts, self.device)

    def runs(self, budget: int) -> Iterator[tuple[int, int]]:
        """Runs of documents of at most `budget` tokens; a longer document is a run by itself."""
        return self._runs(self.counts, budget)

    def between(self, first: int, last: int) -> "BlockBatch":
        """The documents first:last."""
        start, end = offsets_of(self.counts)[[first, last]].tolist()
        return BlockBatch(self.text.between(start, end), self.counts[first:last])

    def groups(self, budget: int) -> Iterator["BlockBatch"]:
        """The batch in runs of documents of at most `budget` tokens."""
        return (self.between(*run) for run in self.runs(budget))


@dataclass(frozen=True)
class BlockLayout:
    """How documents are cut for a model: tokens per block, number of blocks, special tokens around each block."""

    limit: int  # tokens per block without the special ones
    max_blocks: int | None
    specials: tuple[int, int]
    cut_long: bool = False

    def ranges(self, tokens: Tokens) -> tuple[Ints, Ints]:
        """First and last token of the first `max_blocks` blocks; a document without tokens has one empty block."""
        first, last = block_ranges(tokens, self.limit, cut_long=self.cut_long, max_blocks=self.max_blocks)
        return (first, last) if len(first) else (np.zeros(1, np.int64), np.zeros(1, np.int64))

    def random_ranges(self, tokens: Tokens, random: np.random.Generator) -> tuple[Ints, Ints]:
        """`max_blocks` consecutive blocks from a random position of a document, or all its blocks."""
        first, last = replace(self, max_blocks=None).ranges(tokens)
        start = int(random.integers(max(1, len(first) - (self.max_blocks or len(first)) + 1)))
        return first[start:][: self.max_blocks], last[start:][: self.max_blocks]

    def lay_out(self, documents: Sequence[Tokens], random: np.random.Generator | None = None) -> BlockBatch:
        """The blocks of documents as one batch: from their beginnings, or with `random` from random positions."""
        cuts = [self.ranges(tokens) if random is None else self.random_ranges(tokens, random) for tokens in documents]
        pieces = [
            tokens.ids[a:b]
            for tokens, (first, last) in zip(documents, cuts, strict=True)
            for a, b in zip(first.tolist(), last.tolist(), strict=True)
        ]
        return BlockBatch(FlatTokens.of(pieces, self.specials), torch.tensor([len(first) for first, _ in cuts]))
