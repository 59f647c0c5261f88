"""Which sentences of two documents are read together, and the tokens that they come to."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from longmatch.units.tokens import Ints, Tokens


class Chosen(NamedTuple):
    """The numbers of sentences of either document, rising."""

    a: Ints
    b: Ints


class Selection(ABC):
    """Picks sentences, several times over where a pair is read in several views.

    The same documents, view and seed give the same sentences, whichever other views are asked for.
    """

    def prepare(self, pairs: Sequence[tuple[Tokens, Tokens]]) -> None:  # noqa: B027 (most have nothing to prepare)
        """Told of pairs that will be asked about next: what takes less time for all of them together is done here."""

    @abstractmethod
    def choose(self, a: Tokens, b: Tokens, limit: int, views: Sequence[int], seed: int) -> list[Chosen]:
        """The sentences of each view. Of those of a side, no more than the first `limit` tokens will be read."""


@dataclass(frozen=True)
class Opening(Selection):
    """Truncation: both documents from their beginning, the same in every view."""

    def choose(self, a: Tokens, b: Tokens, limit: int, views: Sequence[int], seed: int) -> list[Chosen]:
        """All sentences that begin within the limit."""
        first, second = (np.arange(np.searchsorted(tokens.sentence_offsets[:-1], limit)) for tokens in (a, b))
        return [Chosen(first, second)] * len(views)


@dataclass(frozen=True)
class Excerpt:
    """Sentences of one document in reading order: sentence numbers[i] is read as the tokens first[i]:last[i]."""

    numbers: Ints
    first: Ints
    last: Ints

    @staticmethod
    def of(tokens: Tokens, numbers: Ints, limit: int) -> "Excerpt":
        """As many of the sentences as fit; the last of them is shortened."""
        first, last = tokens.sentence_offsets[numbers], tokens.sentence_offsets[numbers + 1]
        over = (last - first).cumsum() - limit  # how far beyond the limit each sentence reaches
        kept = over < last - first
        return Excerpt(numbers[kept], first[kept], (last - over.clip(min=0))[kept])

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def lengths(self) -> Ints:
        """Tokens in each sentence."""
        return self.last - self.first

    def ids(self, tokens: Tokens) -> Ints:
        """The token ids, sentence after sentence."""
        parts = [tokens.ids[a:b] for a, b in zip(self.first.tolist(), self.last.tolist(), strict=True)]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

    def without(self, place: int) -> "Excerpt":
        """Without one of its sentences."""
        return Excerpt(*(np.delete(column, place) for column in (self.numbers, self.first, self.last)))


def joined(excerpts: Sequence[Excerpt]) -> Excerpt:
    """Every sentence that one of the excerpts holds, as far as any of them reads it."""
    numbers, place = np.unique(np.concatenate([e.numbers for e in excerpts]), return_inverse=True)
    first, last = np.zeros(len(numbers), dtype=np.int64), np.zeros(len(numbers), dtype=np.int64)
    first[place] = np.concatenate([e.first for e in excerpts])
    np.maximum.at(last, place, np.concatenate([e.last for e in excerpts]))
    return Excerpt(numbers, first, last)


def coverage(tokens: Tokens, excerpts: Sequence[Excerpt]) -> float:
    """The share of a document that was read, in all views together."""
    return int(joined(excerpts).lengths.sum()) / max(1, len(tokens))
