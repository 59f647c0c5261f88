"""What the parts of two documents share: which terms link which sentences, and how alike groups of them are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from longmatch.lexical.table import TermTable
from longmatch.lexical.terms import Counts, Hashes, Ints, Places, Stream, lookup
from longmatch.lexical.weights import Idf, TermMatrix, Weighted, log_tf, tfidf
from longmatch.matching.match import Grid, Level
from longmatch.matching.sentences import Groups, Sentences
from longmatch.ragged import Floats, offsets_of, ranges, segment_ids, segment_slices

PAIRS = 4_000_000  # sentence pairs looked at; the commonest terms, which link everything with everything, go first
DENSE = 1_000_000  # pairs of sentences up to which each has its cell


@dataclass(frozen=True)
class RatedTerms:
    """The terms of a document, of one kind, and the rarity of each distinct one in the order of `stream.counts`."""

    stream: Stream
    idf: Floats

    @staticmethod
    def of(stream: Stream, idf: Idf) -> "RatedTerms":
        """Rate the terms of a stream."""
        return RatedTerms(stream, idf.idf(stream.counts.ids))


@dataclass(frozen=True)
class Shared:
    """Terms of one kind that both documents have, sorted, and how much of their similarity each carries."""

    ids: Hashes
    mass: Floats


@dataclass(frozen=True)
class Links:
    """For each sentence, the lexical evidence it carries and the sentence of the other document that shares most of it.

    A partner of -1 means that only very common terms are shared.
    """

    mass: Floats
    partner: Ints


@dataclass(frozen=True)
class SharedTerms:
    """What a document shares with another: terms of each kind, and the links of its sentences and of the other's."""

    kinds: tuple[Shared, ...]
    forward: Links
    backward: Links


def link_pair(a: RatedTerms, b: Stream) -> SharedTerms:
    """The links of two documents by terms of one kind, whose evidence sums to 1."""
    return link_sentences([a], [b], np.array([0, len(b.offsets) - 1]), np.ones((1, 1)))[0]


def link_sentences(
    query: Sequence[RatedTerms], streams: Sequence[Stream], offsets: Ints, worth: Floats
) -> list[SharedTerms]:
    """Spread what a document and each of several others share over their sentences, and link those that share most.

    Each entry of `query` and `streams` is one kind of term (words, phrases). A stream holds the sentences of all other
    documents, which begin at `offsets`. What the terms of a kind carry together is `worth`, (documents, kinds); each
    carries its share in the product of their TF-IDF weights.
    """
    a = _Occurrences.of([terms.stream.places for terms in query])
    b = _Occurrences.of(
        [find_places(terms.stream.counts.ids, stream) for terms, stream in zip(query, streams, strict=True)]
    )
    kinds = offsets_of(np.array([len(terms.idf) for terms in query], dtype=np.int64))
    held = _HeldTerms.of(a, b, offsets)
    group = held.document * len(query) + segment_ids(kinds)[held.term]
    shares = held.shares(np.concatenate([terms.idf for terms in query]), group)
    mass = shares * worth.ravel()[group]
    forward, backward = held.best_partners(mass)
    mine, theirs = held.spread(mass)
    shared = held.by_document(shares, np.concatenate([terms.stream.counts.ids for terms in query]), kinds)
    bounds = offsets[1:-1]
    backwards = map(Links, np.split(theirs, bounds), np.split(backward, bounds))
    return [SharedTerms(*row) for row in zip(shared, map(Links, mine, forward), backwards, strict=True)]


def find_places(terms: Hashes, stream: Stream) -> Places:
    """The sentences of a stream in which some terms, which must be sorted, stand; nothing else is looked at."""
    where, number = TermTable.of(terms).find(stream.ids)
    return Places.of(number, stream.sentence[where], len(terms), len(stream.offsets) - 1)


@dataclass(frozen=True)
class _Occurrences:
    """How often each term stands in each sentence: three columns, sorted by term, then sentence."""

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


@dataclass(frozen=True)
class _HeldTerms:
    """The terms of `a` that each document of `b` holds: a row per document and term, sorted by term."""

    a: _Occurrences
    b: _Occurrences  # in the sentences of all documents
    offsets: Ints  # of the documents' sentences
    term: Ints
    document: Ints
    first: Ints  # of the row's occurrences in b
    size: Ints  # how many these are

    @staticmethod
    def of(a: _Occurrences, b: _Occurrences, offsets: Ints) -> "_HeldTerms":
        """From the occurrences of the same terms in both."""
        document = segment_ids(offsets)[b.sentence]
        key = b.term * len(offsets) + document
        first = np.flatnonzero(np.diff(key, prepend=-1))
        return _HeldTerms(a, b, offsets, b.term[first], document[first], first, np.diff(first, append=len(key)))

    @property
    def documents(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def totals(self) -> tuple[Floats, Floats]:
        """How often the term of each row stands in a, and in the row's document."""
        mine = _sums(self.a.term, self.a.count, len(self.a.per_term))[self.term]
        return mine, _sums(self._row, self.b.count, len(self.term))

    @cached_property
    def _row(self) -> Ints:
        """The row of each occurrence in b."""
        return np.repeat(np.arange(len(self.term)), self.size)

    @cached_property
    def _mine(self) -> tuple[Ints, Ints]:
        """Every occurrence in a of every row's term, and the row."""
        counts = self.a.per_term[self.term]
        first = (np.cumsum(self.a.per_term) - self.a.per_term)[self.term]
        return ranges(first, first + counts), np.repeat(np.arange(len(counts)), counts)

    def shares(self, idf: Floats, group: Ints) -> Floats:
        """Each row's share of the product of TF-IDF weights, within its group: a document and a kind of term."""
        mine, theirs = (log_tf(total.astype(np.int64)) for total in self.totals)
        mass = mine * theirs * idf[self.term] ** 2  # the lengths of the vectors are the same for all of a group
        sums = _sums(group, mass)
        return np.asarray(mass / np.where(sums > 0, sums, 1.0)[group])

    def spread(self, mass: Floats) -> tuple[Floats, Floats]:
        """The share of each sentence of a in each document's mass, (documents, sentences), and that of each of b."""
        here, row = self._mine
        mine, theirs = (mass / total for total in self.totals)
        cell = self.document[row] * self.a.sentences + self.a.sentence[here]
        forward = _sums(cell, self.a.count[here] * mine[row], self.documents * self.a.sentences)
        backward = _sums(self.b.sentence, self.b.count * theirs[self._row], self.b.sentences)
        return forward.reshape(self.documents, -1), backward

    def best_partners(self, mass: Floats) -> tuple[Ints, Ints]:
        """For each sentence of a the one of each document that shares most, (documents, sentences), and for each of b
        that of a; -1 where nothing is shared.
        """
        forward = np.full((self.documents, self.a.sentences), -1, dtype=np.int64)
        backward = np.full(self.b.sentences, -1, dtype=np.int64)
        worth = mass / (self.totals[0] * self.totals[1])
        pairs = self.a.per_term[self.term] * self.size
        for first, last in self._runs(pairs):
            chosen = (mass > 0) & (self.document >= first) & (self.document < last)
            start, end = self.offsets[[first, last]].tolist()
            keys, values = self._cells(np.where(chosen & _rarest(np.where(chosen, pairs, 0)), worth, 0.0), start)
            here = self.offsets[first : last + 1] - start
            forward[first:last], backward[start:end] = _strongest(keys, values, here, self.a.sentences)
        return forward, backward

    def _runs(self, pairs: Ints) -> Iterator[tuple[int, int]]:
        """Documents that are linked together: cells and pairs of sentences are within bounds, unless it is one."""
        cells = np.diff(self.offsets) * self.a.sentences
        linked = np.bincount(self.document, pairs, self.documents).astype(np.int64)
        return segment_slices(offsets_of(cells + linked * DENSE // PAIRS).tolist(), DENSE)

    def _cells(self, worth: Floats, start: int) -> tuple[Ints, Floats]:
        """For each row of any worth, every pair of a sentence of b, numbered from `start`, and one of a: the cell in
        which they meet, (sentences of b, sentences of a), and what they share there.
        """
        here, row = self._mine
        valuable = worth[row] > 0
        here, row = here[valuable], row[valuable]
        size = self.size[row]
        theirs = ranges(self.first[row], self.first[row] + size)
        key = np.repeat(self.a.sentence[here] - start * self.a.sentences, size)
        key += (self.b.sentence * self.a.sentences)[theirs]
        return key, np.repeat(self.a.count[here] * worth[row], size) * self.b.count[theirs]

    def by_document(self, shares: Floats, ids: Hashes, kinds: Ints) -> list[tuple[Shared, ...]]:
        """The terms of each kind that each document shares."""
        order = np.argsort(self.document.astype(np.min_scalar_type(self.documents)), kind="stable")
        bounds = offsets_of(np.bincount(self.document, minlength=self.documents))
        term, shares = self.term[order], shares[order]
        found = []
        for first, last in pairwise(bounds.tolist()):
            ends = (first + np.searchsorted(term[first:last], kinds)).tolist()
            parts = [slice(start, end) for start, end in pairwise(ends)]
            found.append(tuple(Shared(ids[term[part]], shares[part]) for part in parts))
        return found


def _sums(groups: Ints, values: Floats, count: int = 0) -> Floats:
    """The sum of the values of each group, of which there are at least `count`."""
    return np.asarray(np.bincount(groups, values, count), dtype=np.float64)


def _rarest(pairs: Ints) -> "np.typing.NDArray[np.bool_]":
    """Which terms remain when those with most pairs go, until PAIRS are left."""
    if pairs.sum() <= PAIRS:
        return np.ones(len(pairs), dtype=bool)
    order = np.argsort(pairs, kind="stable")
    kept = np.zeros(len(pairs), dtype=bool)
    kept[order[np.cumsum(pairs[order]) <= PAIRS]] = True
    return kept


def _strongest(keys: Ints, values: Floats, offsets: Ints, columns: int) -> tuple[Ints, Ints]:
    """The row of each column's largest cell within each run of rows, (runs, columns), and each row's largest column.

    A cell, (rows, columns), holds the sum of the values that have its key. Runs begin at `offsets`. Of equal cells the
    first counts; it is -1 where all are 0.
    """
    rows = int(offsets[-1])
    if rows * columns > DENSE:
        cells, position = np.unique(keys, return_inverse=True)
        sums = _sums(position, values)
        row, column = np.divmod(cells, columns)
        return _first_largest(column, row, sums, columns)[None], _first_largest(row, column, sums, rows)
    table = _sums(keys, values, rows * columns).reshape(rows, columns)
    runs = [table[start:end] for start, end in pairwise(offsets.tolist())]
    return np.stack([_largest(run.T) for run in runs]), _largest(table)


def _largest(values: Floats) -> Ints:
    """The column of each row's largest value, -1 for a row of zeros."""
    if not values.size:
        return np.full(len(values), -1, dtype=np.int64)
    values = np.ascontiguousarray(values)
    best = values.argmax(axis=1)
    return np.where(values[np.arange(len(values)), best] > 0, best, -1)


def _first_largest(rows: Ints, columns: Ints, values: Floats, count: int) -> Ints:
    """The column of each row's largest value, the first of equal ones; -1 for a row without any."""
    order = np.lexsort((columns, -values, rows))
    filled, first = np.unique(rows[order], return_index=True)
    best = np.full(count, -1, dtype=np.int64)
    best[filled] = columns[order[first]]
    return best


def group_grid(a: Sentences, b: Sentences, mine: Stream, theirs: Stream, level: Level, idf: Idf) -> Grid:
    """The TF-IDF cosine of every group of one document with every group of the other."""
    rows, columns = a.groups(level), b.groups(level)
    scores = group_cosines(mine, theirs, rows, columns, idf).astype(np.float32)
    return Grid(rows.labels, columns.labels, rows.spans, columns.spans, scores)


def group_cosines(mine: Stream, theirs: Stream, rows: Groups, columns: Groups, idf: Idf) -> Floats:
    """The TF-IDF cosines of groups of sentences: (rows, columns)."""
    matrix = TermMatrix.of(_group_weights(theirs, columns, idf))
    return np.vstack([matrix.scores(row) for row in _group_weights(mine, rows, idf)])


def group_coverage(mine: Stream, theirs: Stream, rows: Groups, columns: Groups, idf: Idf, doubt: float) -> Floats:
    """The share of the weight of each row's distinct words that each column has: (rows, columns).

    `doubt` is a weight that nobody has: few or common words found tell less than many rare ones.
    """
    bounds, places = mine.offsets[rows.offsets].tolist(), np.diff(theirs.offsets[columns.offsets])
    column = np.repeat(np.arange(len(places)), places)
    found = np.zeros((len(rows.labels), len(places)))
    for row, (start, end) in enumerate(pairwise(bounds)):
        ids = np.unique(mine.ids[start:end])
        weights = idf.idf(ids)
        position, present = lookup(ids, theirs.ids)
        held = np.unique(column[present] * max(1, len(ids)) + position[present])
        which, term = np.divmod(held, max(1, len(ids)))
        found[row] = np.bincount(which, weights[term], len(places)) / (weights.sum() + doubt)
    return found


def _group_weights(stream: Stream, groups: Groups, idf: Idf) -> list[Weighted]:
    bounds = stream.offsets[groups.offsets].tolist()
    return [tfidf(Counts.of(stream.ids[start:end]), idf) for start, end in pairwise(bounds)]


def sentence_cosines(mine: Stream, theirs: Stream, i: Ints, j: Ints, idf: Idf) -> Floats:
    """The TF-IDF cosine of the sentences of each pair."""
    left = [tfidf(counts, idf) for counts in mine.sentence_counts()]
    right = [tfidf(counts, idf) for counts in theirs.sentence_counts()]
    return np.array([left[x].dot(right[y]) for x, y in zip(i.tolist(), j.tolist(), strict=True)])


def shared_weight(mine: Stream, theirs: Stream, i: Ints, j: Ints, terms: Hashes, weights: Floats) -> Floats:
    """The weight of the distinct terms that the sentences of each pair share: (pairs,). `terms` are sorted."""
    held, wanted = _cells(mine, i, terms), _cells(theirs, j, terms)
    _, both = lookup(held, wanted)
    pair, term = np.divmod(wanted[both], max(1, len(terms)))
    return np.bincount(pair, weights[term], len(i)).astype(np.float64)


def _cells(stream: Stream, sentences: Ints, terms: Hashes) -> Ints:
    """Where in a table of some sentences and some terms, row by row, there is a term that the sentence has; sorted."""
    position, present = lookup(terms, stream.ids)
    sentence, term = np.divmod(np.unique(stream.sentence[present] * len(terms) + position[present]), max(1, len(terms)))
    starts, ends = np.searchsorted(sentence, sentences), np.searchsorted(sentence, sentences, "right")
    row = np.repeat(np.arange(len(sentences)), ends - starts)
    return row * len(terms) + term[ranges(starts, ends)]
