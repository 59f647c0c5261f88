"""The sentences that a cross-encoder reads, as rows of tokens: one per pair and view, laid out flat."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import torch
from cachetools import LRUCache
from torch import Tensor

from longmatch.lab.encoders.flat import FlatTokens, PieceBatch, groups_within
from longmatch.units.tokens import Ints, Tokens

CACHED_PAIRS = 50_000  # whose sentences are kept, a few hundred bytes each
Pair = tuple[Tokens, Tokens]


class SelectedSentences(NamedTuple):
    """Sentence numbers of both documents, in ascending order."""

    a: Ints
    b: Ints


class Selection(ABC):
    """Selects sentences, once per view of a pair.

    The same documents, view and seed give the same sentences, whichever other views are requested.
    """

    def prepare(self, pairs: Sequence[tuple[Tokens, Tokens]]) -> None:  # noqa: B027 (most have nothing to prepare)
        """Do work for the pairs that follow that is faster for all of them together."""

    @abstractmethod
    def choose(self, a: Tokens, b: Tokens, limit: int, views: Sequence[int], seed: int) -> list[SelectedSentences]:
        """The sentences of each view. Only the first `limit` tokens of a side's sentences will be read."""


@dataclass(frozen=True)
class Opening(Selection):
    """Truncation: the beginning of both documents, the same in every view."""

    def choose(self, a: Tokens, b: Tokens, limit: int, views: Sequence[int], seed: int) -> list[SelectedSentences]:
        """All sentences that start within the limit."""
        first, second = (np.arange(np.searchsorted(tokens.sentence_offsets[:-1], limit)) for tokens in (a, b))
        return [SelectedSentences(first, second)] * len(views)


@dataclass(frozen=True)
class FixedSelection(Selection):
    """Selects the same sentences in every view: those of a pair are found once for all epochs."""

    _recent: LRUCache[tuple[bytes, int], SelectedSentences] = field(
        default_factory=lambda: LRUCache(CACHED_PAIRS), repr=False, compare=False, kw_only=True
    )

    def choose(self, a: Tokens, b: Tokens, limit: int, views: Sequence[int], seed: int) -> list[SelectedSentences]:
        """The sentences of the pair, for each view."""
        key = digest_of(a) + digest_of(b), limit
        if (selected := self._recent.get(key)) is None:
            selected = self._recent[key] = self.select(a, b, limit)
        return [selected] * len(views)

    @abstractmethod
    def select(self, a: Tokens, b: Tokens, limit: int) -> SelectedSentences:
        """The sentences of a pair."""


def sentence_count(tokens: Tokens, limit: int | None = None) -> int:
    """The number of a document's sentences, at most `limit`."""
    count = len(tokens.sentence_offsets) - 1
    return count if limit is None else min(limit, count)


def digest_of(tokens: Tokens, limit: int | None = None) -> bytes:
    """Of what a selection depends on: the document's id, its first `limit` sentences, their tokens and words."""
    digest = blake2b(tokens.document.id.encode("utf-8", "surrogatepass"), digest_size=16)
    offsets = tokens.sentence_offsets[: sentence_count(tokens, limit) + 1]
    end = int(offsets[-1])
    for array in (offsets, tokens.ids[:end], tokens.word_starts[:end]):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.digest()


@dataclass(frozen=True)
class Excerpt:
    """Sentences of one document in order: of sentence numbers[i], the tokens first[i]:last[i] are read."""

    numbers: Ints
    first: Ints
    last: Ints

    @staticmethod
    def of(tokens: Tokens, numbers: Ints, limit: int) -> "Excerpt":
        """As many of the sentences as fit; the last one is truncated."""
        first, last = tokens.sentence_offsets[numbers], tokens.sentence_offsets[numbers + 1]
        over = (last - first).cumsum() - limit  # tokens of each sentence beyond the limit
        kept = over < last - first
        return Excerpt(numbers[kept], first[kept], (last - over.clip(min=0))[kept])

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def lengths(self) -> Ints:
        """Tokens in each sentence."""
        return self.last - self.first

    def ids(self, tokens: Tokens) -> Ints:
        """The concatenated token ids."""
        parts = [tokens.ids[a:b] for a, b in zip(self.first.tolist(), self.last.tolist(), strict=True)]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

    def without(self, place: int) -> "Excerpt":
        """The excerpt without the sentence at `place`."""
        return Excerpt(*(np.delete(column, place) for column in (self.numbers, self.first, self.last)))


def merge_excerpts(excerpts: Sequence[Excerpt]) -> Excerpt:
    """Every sentence in any of the excerpts, as far as any of them reads it."""
    numbers, place = np.unique(np.concatenate([e.numbers for e in excerpts]), return_inverse=True)
    first, last = np.zeros(len(numbers), dtype=np.int64), np.zeros(len(numbers), dtype=np.int64)
    first[place] = np.concatenate([e.first for e in excerpts])
    np.maximum.at(last, place, np.concatenate([e.last for e in excerpts]))
    return Excerpt(numbers, first, last)


def coverage(tokens: Tokens, excerpts: Sequence[Excerpt]) -> float:
    """The share of a document that is read, over all views."""
    return int(merge_excerpts(excerpts).lengths.sum()) / max(1, len(tokens))


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
