"""Documents as SMITH reads them: greedily filled blocks, laid out flat; for pre-training some of it is hidden."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from longmatch.encoders.flat import Flat, InPieces
from longmatch.encoders.ragged import offsets_of
from longmatch.encoders.transfer import moved
from longmatch.lab.training.masked_words import IGNORED, mask_words
from longmatch.units.chunking import block_ranges
from longmatch.units.tokens import Ints, Tokens


@dataclass(frozen=True)
class BlockBatch(InPieces):
    """The blocks of some documents, one after another: there are no padding blocks."""

    counts: Tensor  # (documents,) how many blocks each document has

    def __len__(self) -> int:
        """Documents."""
        return len(self.counts)

    @property
    def place(self) -> Tensor:
        """Which block of its document each is: (blocks,)."""
        starts = torch.repeat_interleave(offsets_of(self.counts)[:-1], self.counts)
        return moved(torch.arange(len(starts)) - starts, self.device)

    def runs(self, budget: int) -> Iterator[tuple[int, int]]:
        """Runs of documents of at most `budget` tokens each; a longer document is a run of its own."""
        return self._runs(self.counts, budget)

    def between(self, first: int, last: int) -> "BlockBatch":
        """A run of the documents."""
        start, end = offsets_of(self.counts)[[first, last]].tolist()
        return BlockBatch(self.text.between(start, end), self.counts[first:last])

    def groups(self, budget: int) -> Iterator["BlockBatch"]:
        """As many documents at a time as the budget holds."""
        return (self.between(*run) for run in self.runs(budget))


@dataclass(frozen=True)
class Layout:
    """How documents are cut for a model: tokens a block, the most blocks, the special tokens around each block."""

    limit: int  # tokens a block, special ones not counted
    most: int | None  # blocks
    specials: tuple[int, int]
    cut_long: bool = False

    def ranges(self, tokens: Tokens) -> tuple[Ints, Ints]:
        """The blocks that are read of a document; one without tokens has one that is empty."""
        first, last = block_ranges(tokens, self.limit, cut_long=self.cut_long, max_blocks=self.most)
        return (first, last) if len(first) else (np.zeros(1, np.int64), np.zeros(1, np.int64))

    def anywhere(self, tokens: Tokens, random: np.random.Generator) -> tuple[Ints, Ints]:
        """As many blocks as are read, from a place drawn at random in a document that has more."""
        first, last = replace(self, most=None).ranges(tokens)
        start = int(random.integers(max(1, len(first) - (self.most or len(first)) + 1)))
        return first[start:][: self.most], last[start:][: self.most]

    def lay_out(self, documents: Sequence[Tokens], random: np.random.Generator | None = None) -> BlockBatch:
        """The blocks of documents, flat; with random numbers, from anywhere in each."""
        cuts = [self.ranges(tokens) if random is None else self.anywhere(tokens, random) for tokens in documents]
        pieces = [
            tokens.ids[a:b]
            for tokens, (first, last) in zip(documents, cuts, strict=True)
            for a, b in zip(first.tolist(), last.tolist(), strict=True)
        ]
        return BlockBatch(Flat.of(pieces, self.specials), torch.tensor([len(first) for first, _ in cuts]))


@dataclass(frozen=True)
class MaskedBatch:
    """Documents some of whose words are hidden, and some of whose blocks are to be hidden from the document level."""

    blocks: BlockBatch
    words: Tensor  # (tokens,) the hidden words where there are any, IGNORED elsewhere; on the CPU, as `masked` is
    masked: Tensor  # (blocks,) which are hidden

    @property
    def tokens(self) -> int:
        """How many tokens the model reads."""
        return self.blocks.tokens

    @property
    def hidden(self) -> int:
        """How many words are hidden."""
        return int((self.words != IGNORED).sum())

    @property
    def hidden_words(self) -> Tensor:
        """Which words are hidden, one after another: (hidden words,)."""
        return moved(self.words[self.words != IGNORED], self.blocks.device)

    @property
    def word_places(self) -> Tensor:
        """Where they stand among the tokens: (hidden words,)."""
        return moved((self.words != IGNORED).nonzero().flatten(), self.blocks.device)

    @property
    def block_places(self) -> Tensor:
        """Which blocks are hidden: (hidden blocks,)."""
        return moved(self.masked.nonzero().flatten(), self.blocks.device)

    def to(self, device: torch.device) -> "MaskedBatch":
        """The same, its text on another device."""
        return replace(self, blocks=self.blocks.to(device))

    def groups(self, budget: int) -> Iterator["MaskedBatch"]:
        """As many documents at a time as the budget holds."""
        blocks = offsets_of(self.blocks.counts)
        tokens = offsets_of(self.blocks.text.lengths)[blocks].tolist()
        for first, last in self.blocks.runs(budget):
            yield MaskedBatch(
                self.blocks.between(first, last),
                self.words[tokens[first] : tokens[last]],
                self.masked[int(blocks[first]) : int(blocks[last])],
            )


@dataclass(frozen=True)
class Masking:
    """What is hidden (section 4.2): a share of the words, as BERT does it, and so many blocks a document."""

    token: int  # in the place of a hidden word
    vocabulary: int
    words: float = 0.15
    blocks: int = 2

    def of(self, batch: BlockBatch, random: np.random.Generator) -> MaskedBatch:
        """The batch with some of it hidden. Of each document at least one block stays to be seen."""
        flat = batch.text
        ends = offsets_of(flat.lengths)
        real = torch.ones(len(flat.ids), dtype=torch.bool)
        real[ends[:-1]] = real[ends[1:] - 1] = False  # start and end tokens
        seeded = torch.Generator().manual_seed(int(random.integers(1 << 62)))
        ids, words = mask_words(flat.ids, real, self.token, self.vocabulary, self.words, seeded)
        masked = torch.zeros(len(flat), dtype=torch.bool)
        for start, count in zip(offsets_of(batch.counts).tolist(), batch.counts.tolist(), strict=False):
            chosen = random.permutation(count)[: min(self.blocks, count - 1)]
            masked[torch.from_numpy(start + chosen)] = True
        return MaskedBatch(replace(batch, text=replace(flat, ids=ids)), words, masked)
