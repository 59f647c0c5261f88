"""The parts of two documents compared by their terms: groups of sentences, pairs of sentences."""

from itertools import pairwise

import numpy as np

from longmatch.lexical.frequencies import Floats
from longmatch.lexical.links import Shared
from longmatch.lexical.spelling import spell
from longmatch.lexical.terms import Counts, Hashes, Ints, Stream, lookup
from longmatch.lexical.weights import Idf, TermMatrix, Weighted, tfidf
from longmatch.matching.match import Grid, Level
from longmatch.matching.sentences import Groups, Sentences
from longmatch.ragged import ranges

MOST_WORDS = 8  # listed of those that two sentences share


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


def shared_words(shared: Shared, mine: Stream, theirs: Stream, pair: tuple[int, int], text: str) -> tuple[str, ...]:
    """Which of the shared words stand in both sentences, the heaviest first; `text` is that of the first."""
    both = sorted(set(_terms_at(mine, pair[0])).intersection(_terms_at(theirs, pair[1])))
    position, weighed = lookup(shared.ids, np.array(both, dtype=np.uint64))
    mass = shared.mass[position[weighed]].tolist()
    heavy = max(mass, default=0.0) / 5  # what weighs less are words found everywhere
    known = (term for term, present in zip(both, weighed.tolist(), strict=True) if present)
    heaviest = sorted(zip(mass, known, strict=True), key=lambda entry: -entry[0])[:MOST_WORDS]
    best = [term for weight, term in heaviest if weight > heavy]
    spelled = spell(best, [text])
    return tuple(spelled[term] for term in best if term in spelled)


def _terms_at(stream: Stream, sentence: int) -> list[int]:
    terms: list[int] = stream.ids[stream.offsets[sentence] : stream.offsets[sentence + 1]].tolist()
    return terms
