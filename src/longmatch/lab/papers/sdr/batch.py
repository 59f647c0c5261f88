"""Sentence pairs laid out flat: as they are to be compared, and with some of their words masked (SDR section 3.2)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from longmatch.lab.encoders.flat import FlatTokens, groups_within
from longmatch.lab.encoders.ragged import offsets_of, to_device
from longmatch.lab.papers.sdr.pairs import DrawnPairs, SentencePool
from longmatch.lab.training.masked_words import IGNORED, mask_pieces


@dataclass(frozen=True)
class SentenceBatch:
    """Pair i is sentences 2i and 2i + 1, of both texts; a text that no loss reads is empty."""

    compared: FlatTokens
    masked: FlatTokens
    labels: Tensor  # (tokens of `masked`,) the original word where it is masked, IGNORED elsewhere
    intra: Tensor  # (pairs,) 1 for a pair from one unit, 0 for one from different documents
    document: Tensor  # (pairs,) of the first sentence
    head_only: bool = False  # the masked words teach the head and leave the backbone as it is

    def __len__(self) -> int:
        return len(self.intra)

    @property
    def tokens(self) -> int:
        """Number of tokens that are read, special ones included."""
        return self.compared.tokens + self.masked.tokens

    @property
    def masked_count(self) -> int:
        """Number of masked words."""
        return int((self.labels != IGNORED).sum())

    def to(self, device: torch.device) -> "SentenceBatch":
        """The batch on another device."""
        labels, intra, document = (to_device(each, device) for each in (self.labels, self.intra, self.document))
        texts = self.compared.to(device), self.masked.to(device)
        return replace(self, compared=texts[0], masked=texts[1], labels=labels, intra=intra, document=document)

    def masked_groups(self, budget: int) -> Iterator[tuple[FlatTokens, Tensor]]:
        """Masked sentences of at most `budget` tokens together, and their labels; a longer one is its own group."""
        starts = offsets_of(self.masked.lengths).tolist()
        for first, last in groups_within(self.masked.lengths, budget):
            yield self.masked.between(first, last), self.labels[starts[first] : starts[last]]


@dataclass(frozen=True)
class PairLayout:
    """How sentence pairs become a batch: which texts the losses read, special tokens around each sentence."""

    mask_token: int
    vocabulary: int  # size
    specials: tuple[int, int]
    masked_share: float = 0.15  # of the words; 0: no masked text
    compares: bool = True  # whether a loss compares sentences
    masked_pairs: bool = False  # it compares the masked ones

    def lay_out(self, pool: SentencePool, pairs: DrawnPairs, random: np.random.Generator) -> SentenceBatch:
        """The sentences of the pairs."""
        order = np.stack([pairs.p, pairs.q], axis=1).flatten()
        text = FlatTokens.of([pool.ids(sentence) for sentence in order.tolist()], self.specials)
        nothing = text.between(0, 0)
        masked, labels = nothing, nothing.ids
        if self.masked_share:
            masked, labels = mask_pieces(text, self.mask_token, self.vocabulary, self.masked_share, random)
        compared = masked if self.masked_pairs else text
        intra, document = torch.from_numpy(pairs.intra.astype(np.int64)), torch.from_numpy(pool.document[pairs.p])
        return SentenceBatch(compared if self.compares else nothing, masked, labels, intra, document)
