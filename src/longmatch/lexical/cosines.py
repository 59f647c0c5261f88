"""The parts of two documents compared by their terms: groups of sentences, pairs of sentences."""

from itertools import pairwise

import numpy as np

from longmatch.lexical.frequencies import Floats
from longmatch.lexical.links import Shared
from longmatch.lexical.spelling import spell
from longmatch.lexical.terms import Counts, Ints, Stream, lookup
from longmatch.lexical.weights import Idf, TermMatrix, Weighted, tfidf
from longmatch.matching.match import Grid, Level
from longmatch.matching.sentences import Groups, Sentences

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


def shared_words(shared: Shared, mine: Stream, theirs: Stream, pair: tuple[int, int], text: str) -> tuple[str, ...]:
    """The words two sentences share, the heaviest first; `text` is that of the first."""
    both = sorted(set(_terms_at(mine, pair[0])).intersection(_terms_at(theirs, pair[1])))
    mass = shared.mass[np.searchsorted(shared.ids, np.array(both, dtype=np.uint64))].tolist()
    heavy = max(mass, default=0.0) / 5  # what weighs less are words found everywhere
    heaviest = sorted(zip(mass, both, strict=True), key=lambda entry: -entry[0])[:MOST_WORDS]
    best = [term for weight, term in heaviest if weight > heavy]
    spelled = spell(best, [text])
    return tuple(spelled[term] for term in best if term in spelled)


def _terms_at(stream: Stream, sentence: int) -> list[int]:
    terms: list[int] = stream.ids[stream.offsets[sentence] : stream.offsets[sentence + 1]].tolist()
    return terms
