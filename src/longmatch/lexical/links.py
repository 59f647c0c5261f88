"""What the parts of two documents share: which terms link which sentences, and how alike groups of them are."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from longmatch.lexical.terms import Counts, Hashes, Ints, Places, Stream, TermTable, lookup
from longmatch.lexical.weights import Idf, TermMatrix, log_tf, tfidf
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
    found = []
    for rated, stream in zip(query, streams, strict=True):
        ids = rated.stream.counts.ids
        where, number = TermTable.of(ids).find(stream.ids)
        found.append(Places.of(number, stream.sentence[where], len(ids), len(stream.offsets) - 1))
    b = _Occurrences.of(found)
    held = _HeldTerms.of(a, b, offsets)
    row, documents = np.repeat(np.arange(len(held.term)), held.size), len(offsets) - 1
    # how often the term of each row stands in a, and in the row's document
    mine, theirs = _sums(a.term, a.count, len(a.per_term))[held.term], _sums(row, b.count, len(held.term))

    # each row's share of the product of TF-IDF weights, within its group: a document and a kind of term
    kinds = offsets_of(np.array([len(rated.idf) for rated in query], dtype=np.int64))
    group = held.document * len(query) + segment_ids(kinds)[held.term]
    idf = np.concatenate([rated.idf for rated in query])[held.term]
    # the lengths of the vectors are the same for all of a group
    product = log_tf(mine.astype(np.int64)) * log_tf(theirs.astype(np.int64)) * idf**2
    sums = _sums(group, product)
    shares = product / np.where(sums > 0, sums, 1.0)[group]

    mass = shares * worth.ravel()[group]
    forward, backward = held.best_partners(mass, mass / (mine * theirs))
    cell = held.document[held.row] * a.sentences + a.sentence[held.here]
    here = _sums(cell, a.count[held.here] * (mass / mine)[held.row], documents * a.sentences).reshape(documents, -1)
    there = _sums(b.sentence, b.count * (mass / theirs)[row], b.sentences)

    ids = np.concatenate([rated.stream.counts.ids for rated in query])[held.term]
    bounds = offsets[1:-1]
    columns = here, forward, np.split(there, bounds), np.split(backward, bounds)
    linked = []
    for document, (left, partner, right, other) in enumerate(zip(*columns, strict=True)):
        rows = [np.flatnonzero(group == document * len(query) + kind) for kind in range(len(query))]
        shared = tuple(Shared(ids[chosen], shares[chosen]) for chosen in rows)
        linked.append(SharedTerms(shared, Links(left, partner), Links(right, other)))
    return linked


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
        sentence = np.concatenate([places.sentence for places in kinds])
        count = np.concatenate([places.count for places in kinds])
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
    here: Ints  # every occurrence in a of every row's term ...
    row: Ints  # ... and the row

    @staticmethod
    def of(a: _Occurrences, b: _Occurrences, offsets: Ints) -> "_HeldTerms":
        """From the occurrences of the same terms in both."""
        document = segment_ids(offsets)[b.sentence]
        key = b.term * len(offsets) + document
        first = np.flatnonzero(np.diff(key, prepend=-1))
        term = b.term[first]
        counts, start = a.per_term[term], (np.cumsum(a.per_term) - a.per_term)[term]
        here, row = ranges(start, start + counts), np.repeat(np.arange(len(counts)), counts)
        return _HeldTerms(a, b, offsets, term, document[first], first, np.diff(first, append=len(key)), here, row)

    def best_partners(self, mass: Floats, worth: Floats) -> tuple[Ints, Ints]:
        """For each sentence of a the one of each document that shares most, (documents, sentences), and for each of b
        that of a; -1 where nothing is shared. A term is worth so much for each pair of its occurrences.
        """
        documents, columns = len(self.offsets) - 1, self.a.sentences
        forward = np.full((documents, columns), -1, dtype=np.int64)
        backward = np.full(self.b.sentences, -1, dtype=np.int64)
        pairs = self.a.per_term[self.term] * self.size
        # documents are linked together while cells and pairs of sentences are within bounds, unless it is one
        linked = np.bincount(self.document, pairs, documents).astype(np.int64)
        room = offsets_of(np.diff(self.offsets) * columns + linked * DENSE // PAIRS)
        for first, last in segment_slices(room.tolist(), DENSE):
            chosen = (mass > 0) & (self.document >= first) & (self.document < last)
            cost = np.where(chosen, pairs, 0)
            if cost.sum() > PAIRS:  # the terms with most pairs go, until PAIRS are left
                order = np.argsort(cost, kind="stable")
                chosen[order[np.cumsum(cost[order]) > PAIRS]] = False
            start, end = self.offsets[[first, last]].tolist()
            keys, values = self._cells(np.where(chosen, worth, 0.0), start)
            here = self.offsets[first : last + 1] - start
            forward[first:last], backward[start:end] = _strongest(keys, values, here, columns)
        return forward, backward

    def _cells(self, worth: Floats, start: int) -> tuple[Ints, Floats]:
        """For each row of any worth, every pair of a sentence of b, numbered from `start`, and one of a: the cell in
        which they meet, (sentences of b, sentences of a), and what they share there.
        """
        valuable = worth[self.row] > 0
        here, row = self.here[valuable], self.row[valuable]
        size = self.size[row]
        theirs = ranges(self.first[row], self.first[row] + size)
        key = np.repeat(self.a.sentence[here] - start * self.a.sentences, size)
        key += (self.b.sentence * self.a.sentences)[theirs]
        return key, np.repeat(self.a.count[here] * worth[row], size) * self.b.count[theirs]


def _sums(groups: Ints, values: Floats, count: int = 0) -> Floats:
    """The sum of the values of each group, of which there are at least `count`."""
    return np.asarray(np.bincount(groups, values, count), dtype=np.float64)


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
    there, here = (
        [
            tfidf(Counts.of(stream.ids[start:end]), idf)
            for start, end in pairwise(stream.offsets[groups.offsets].tolist())
        ]
        for stream, groups in ((theirs, columns), (mine, rows))
    )
    matrix = TermMatrix.of(there)
    return np.vstack([matrix.scores(row) for row in here])


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


def sentence_cosines(mine: Stream, theirs: Stream, i: Ints, j: Ints, idf: Idf) -> Floats:
    """The TF-IDF cosine of the sentences of each pair."""
    left, right = ([tfidf(counts, idf) for counts in stream.sentence_counts()] for stream in (mine, theirs))
    return np.array([left[x].dot(right[y]) for x, y in zip(i.tolist(), j.tolist(), strict=True)])


def shared_weight(mine: Stream, theirs: Stream, i: Ints, j: Ints, terms: Hashes, weights: Floats) -> Floats:
    """The weight of the distinct terms that the sentences of each pair share: (pairs,). `terms` are sorted."""
    pair, term = shared_terms(mine, theirs, i, j, terms)
    return np.bincount(pair, weights[term], len(i)).astype(np.float64)


def shared_terms(mine: Stream, theirs: Stream, i: Ints, j: Ints, terms: Hashes) -> tuple[Ints, Ints]:
    """Which of some sorted terms the sentences of each pair share: the pair and the term, by pair, then term."""
    held, wanted = _cells(mine, i, terms), _cells(theirs, j, terms)
    _, both = lookup(held, wanted)
    pair, term = np.divmod(wanted[both], max(1, len(terms)))
    return pair, term


def _cells(stream: Stream, sentences: Ints, terms: Hashes) -> Ints:
    """Where in a table of some sentences and some terms, row by row, there is a term that the sentence has; sorted."""
    position, present = lookup(terms, stream.ids)
    sentence, term = np.divmod(np.unique(stream.sentence[present] * len(terms) + position[present]), max(1, len(terms)))
    starts, ends = np.searchsorted(sentence, sentences), np.searchsorted(sentence, sentences, "right")
    row = np.repeat(np.arange(len(sentences)), ends - starts)
    return row * len(terms) + term[ranges(starts, ends)]
