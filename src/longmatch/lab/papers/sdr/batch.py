"""Sentence pairs laid out flat, with some of their words masked (SDR section 3.2)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from longmatch.lab.encoders.flat import FlatTokens, groups_within
from longmatch.lab.encoders.ragged import offsets_of
from longmatch.lab.papers.sdr.pairs import DrawnPairs, SentencePool
from longmatch.lab.training.masked_words import IGNORED, mask_pieces


@dataclass(frozen=True)
class SentenceBatch:
    """Pair i is sentences 2i and 2i + 1."""

    sentences: FlatTokens
    labels: Tensor  # (tokens,) the original word where it is masked, IGNORED elsewhere
    intra: Tensor  # (pairs,) 1 for a pair from one paragraph, 0 for one from different documents

    def __len__(self) -> int:
        return len(self.intra)

    @property
    def tokens(self) -> int:
        """Number of tokens, special ones included."""
        return len(self.labels)

    @property
    def masked(self) -> int:
        """Number of masked words."""
        return int((self.labels != IGNORED).sum())

    def to(self, device: torch.device) -> "SentenceBatch":
        """The batch on another device."""
        return replace(
            self, sentences=self.sentences.to(device), labels=self.labels.to(device), intra=self.intra.to(device)
        )

    def groups(self, budget: int) -> Iterator["SentenceBatch"]:
        """Runs of whole pairs of at most `budget` tokens; a longer pair is a group by itself."""
        lengths = self.sentences.lengths.view(-1, 2).sum(1)
        starts = offsets_of(lengths).tolist()
        for first, last in groups_within(lengths, budget):
            labels = self.labels[starts[first] : starts[last]]
            yield SentenceBatch(self.sentences.between(2 * first, 2 * last), labels, self.intra[first:last])


@dataclass(frozen=True)
class PairLayout:
    """How sentence pairs become a batch: special tokens around each sentence, a share of the words masked."""

    mask_token: int
    vocabulary: int  # size
    specials: tuple[int, int]
    masked_share: float = 0.15

    def lay_out(self, pool: SentencePool, pairs: DrawnPairs, random: np.random.Generator) -> SentenceBatch:
        """The sentences of the pairs, masked."""
        order = np.stack([pairs.p, pairs.q], axis=1).flatten()
        text = FlatTokens.of([pool.ids(sentence) for sentence in order.tolist()], self.specials)
        masked, labels = mask_pieces(text, self.mask_token, self.vocabulary, self.masked_share, random)
        return SentenceBatch(masked, labels, torch.from_numpy(pairs.intra.astype(np.int64)))
