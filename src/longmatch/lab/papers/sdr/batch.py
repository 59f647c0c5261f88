"""Pairs of sentences as SDR's training reads them: laid out flat, some of their words hidden."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from longmatch.encoders.flat import FlatTokens, groups_within, mean_pool
from longmatch.encoders.ragged import offsets_of
from longmatch.lab.losses import mask_words
from longmatch.lab.losses.masked_words import IGNORED
from longmatch.lab.papers.sdr.encoder import SdrModel
from longmatch.lab.papers.sdr.pairs import DrawnPairs, SentencePool


@dataclass(frozen=True)
class SentenceBatch:
    """Sentences 2i and 2i + 1 are pair i."""

    sentences: FlatTokens
    words: Tensor  # (tokens,) the hidden words where there are any, IGNORED elsewhere
    alike: Tensor  # (pairs,) 1 of one paragraph, 0 of different documents

    def __len__(self) -> int:
        return len(self.alike)

    @property
    def tokens(self) -> int:
        """How many tokens the model reads, special ones included."""
        return len(self.words)

    @property
    def hidden(self) -> int:
        """How many words are hidden."""
        return int((self.words != IGNORED).sum())

    def to(self, device: torch.device) -> "SentenceBatch":
        """The same on another device."""
        return replace(
            self, sentences=self.sentences.to(device), words=self.words.to(device), alike=self.alike.to(device)
        )

    def groups(self, budget: int) -> Iterator["SentenceBatch"]:
        """Runs of whole pairs of at most `budget` tokens each; a longer pair is a group of its own."""
        pairs = self.sentences.lengths.view(-1, 2).sum(1)
        starts = offsets_of(pairs).tolist()
        for first, last in groups_within(pairs, budget):
            words = self.words[starts[first] : starts[last]]
            yield SentenceBatch(self.sentences.between(2 * first, 2 * last), words, self.alike[first:last])


@dataclass(frozen=True)
class Masking:
    """How words are hidden: by which token, out of which vocabulary, which share of them, and what is never hidden."""

    token: int
    vocabulary: int
    specials: tuple[int, int]
    share: float = 0.15

    def lay_out(self, pool: SentencePool, pairs: DrawnPairs, random: np.random.Generator) -> SentenceBatch:
        """The pairs' sentences as the model reads them."""
        order = np.stack([pairs.p, pairs.q], axis=1).flatten()
        flat = FlatTokens.of([pool.ids(sentence) for sentence in order.tolist()], self.specials)
        ends = offsets_of(flat.lengths)
        real = torch.ones(len(flat.ids), dtype=torch.bool)
        real[ends[:-1]] = real[ends[1:] - 1] = False
        seeded = torch.Generator().manual_seed(int(random.integers(1 << 62)))
        ids, words = mask_words(flat.ids, real, self.token, self.vocabulary, self.share, seeded)
        return SentenceBatch(replace(flat, ids=ids), words, torch.from_numpy(pairs.alike.astype(np.int64)))


def read(model: SdrModel, batch: SentenceBatch) -> tuple[Tensor, Tensor, Tensor]:
    """Sentence vectors in the batch's order (sentences, width); and for each hidden word, in one order or another,
    its token vector (hidden, width) and the word (hidden,). Both come from the same pass over the masked ids.
    """
    order, vectors, hidden, words = [], [], [], []
    for rows, places, mask in batch.sentences.by_length():
        states = model(batch.sentences.ids[places], mask)
        wanted = torch.where(mask, batch.words[places], IGNORED)
        order.append(rows)
        vectors.append(mean_pool(states, mask))
        hidden.append(states[wanted != IGNORED])
        words.append(wanted[wanted != IGNORED])
    back = torch.cat(order).argsort().to(batch.words.device)
    return torch.cat(vectors)[back], torch.cat(hidden), torch.cat(words)
