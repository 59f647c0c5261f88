"""Which sentences share the words and phrases that make two documents alike."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from longmatch.lexical.frequencies import Floats
from longmatch.lexical.table import TermTable
from longmatch.lexical.terms import Hashes, Ints, Places, Stream, lookup
from longmatch.lexical.weights import Weighted
from longmatch.ragged import ranges

PAIRS = 4_000_000  # sentence pairs looked at; the commonest terms, which link everything with everything, go first
DENSE = 1_000_000  # pairs of sentences up to which each has its cell


@dataclass(frozen=True)
class Shared:
    """Terms both documents have, and how much of the similarity each carries."""

    ids: Hashes
    mass: Floats


@dataclass(frozen=True)
class Links:
    """For each sentence, the lexical evidence it carries and the sentence of the other document that shares most of it.

    A partner of -1 means that only very common terms are shared.
    """

    mass: Floats
    partner: Ints


def shared_terms(a: Weighted, b: Weighted) -> Shared:
    """The terms of both, by the part of the dot product each carries."""
    position, present = lookup(b.ids, a.ids)
    return Shared(a.ids[present], a.values[present] * b.values[position[present]])


def find_places(terms: Hashes, stream: Stream) -> Places:
    """As `Stream.places_among`, for a stream that few questions are asked of: nothing but these terms is looked at."""
    where, number = TermTable.of(terms).find(stream.ids)
    return Places.of(number, stream.sentence[where], len(terms), len(stream.offsets) - 1)


def link_sentences(
    streams: Sequence[tuple[Stream, Stream]], shared: Sequence[Shared], weights: Sequence[float]
) -> tuple[Links, Links]:
    """Spread each shared term's mass over the sentences it stands in, and link those that share most.

    Each entry of `streams` and `shared` is one kind of term (words, phrases); `weights` is what a unit of it is worth.
    The first document may be compared with many others: where its terms stand is kept.
    """
    mass = np.concatenate([terms.mass * weight for terms, weight in zip(shared, weights, strict=True)])
    a = _Occurrences.of([mine.places_among(terms.ids) for (mine, _), terms in zip(streams, shared, strict=True)])
    b = _Occurrences.of([find_places(terms.ids, theirs) for (_, theirs), terms in zip(streams, shared, strict=True)])
    pairs = a.per_term * b.per_term
    order = np.argsort(pairs, kind="stable")
    kept = np.zeros(len(pairs), dtype=bool)
    kept[order[np.cumsum(pairs[order]) <= PAIRS]] = True
    worth = np.where(kept, mass / np.maximum(a.total * b.total, 1), 0.0)
    forward, backward = _best_partners(a, b, worth)
    return Links(a.spread(mass), forward), Links(b.spread(mass), backward)


@dataclass(frozen=True)
class _Occurrences:
    """How often each shared term stands in each sentence of a document: three columns, sorted by term."""

    sentences: int
    term: Ints
    sentence: Ints
    count: Floats
    per_term: Ints  # sentences that have each term

    @staticmethod
    def of(kinds: Sequence[Places]) -> "_Occurrences":
        """The terms of all kinds are numbered one after another."""
        sentence, count = (
            np.concatenate([getattr(places, name) for places in kinds]) for name in ("sentence", "count")
        )
        per_term = np.concatenate([np.diff(places.offsets) for places in kinds])
        term = np.repeat(np.arange(len(per_term)), per_term)
        return _Occurrences(kinds[0].sentences, term, sentence, count.astype(np.float64), per_term)

    @property
    def total(self) -> Floats:
        """How often each term stands in the document."""
        return np.asarray(np.bincount(self.term, self.count, len(self.per_term)), dtype=np.float64)

    def spread(self, mass: Floats) -> Floats:
        """Each sentence's share of the terms' mass."""
        shares = self.count * (mass / np.maximum(self.total, 1))[self.term]
        return np.asarray(np.bincount(self.sentence, shares, self.sentences), dtype=np.float64)


def _best_partners(a: _Occurrences, b: _Occurrences, worth: Floats) -> tuple[Ints, Ints]:
    """For each sentence of a the one of b that shares most, and the other way round; -1 where nothing is shared."""
    mine = np.flatnonzero((worth > 0)[a.term])
    term = a.term[mine]
    first = (np.cumsum(b.per_term) - b.per_term)[term]
    theirs = ranges(first, first + b.per_term[term])  # every sentence of b for every occurrence in a
    mine = np.repeat(mine, b.per_term[term])
    keys = a.sentence[mine] * b.sentences + b.sentence[theirs]
    values = a.count[mine] * b.count[theirs] * worth[a.term[mine]]
    if a.sentences * b.sentences > DENSE:
        keys, position = np.unique(keys, return_inverse=True)
        values = np.asarray(np.bincount(position, values), dtype=np.float64)
        rows, columns = np.divmod(keys, b.sentences)
        return _strongest(rows, columns, values, a.sentences), _strongest(columns, rows, values, b.sentences)
    cells = np.asarray(np.bincount(keys, values, a.sentences * b.sentences), dtype=np.float64)
    together = cells.reshape(a.sentences, b.sentences)
    return _largest_columns(together), _largest_columns(together.T)


def _largest_columns(values: Floats) -> Ints:
    """The column of each row's largest value, -1 for a row of zeros."""
    if not values.size:
        return np.full(len(values), -1, dtype=np.int64)
    return np.where(values.max(axis=1) > 0, values.argmax(axis=1), -1)


def _strongest(rows: Ints, columns: Ints, values: Floats, count: int) -> Ints:
    """The column of each row's largest value, the first of equal ones; -1 for a row without any."""
    order = np.lexsort((columns, -values, rows))
    filled, first = np.unique(rows[order], return_index=True)
    best = np.full(count, -1, dtype=np.int64)
    best[filled] = columns[order[first]]
    return best
