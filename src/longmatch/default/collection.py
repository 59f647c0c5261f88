"""Documents in memory as candidates, and what random pairs of a collection have in common."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from longmatch.default.comparison import Candidates, Comparison, Query, TermColumn, WeighedDocument
from longmatch.default.encoding import Encoding
from longmatch.default.rarity import Rarity, known_of, prior_of
from longmatch.default.sides import named, similarities
from longmatch.default.statistics import Statistics
from longmatch.default.unrelated import SAMPLED_SIDES, Sample, Unrelated, drawn_documents
from longmatch.lexical.mentions import stack_titles
from longmatch.lexical.terms import Hashes
from longmatch.lexical.weights import Postings, TermMatrix, Weighted, log_tf
from longmatch.ragged import Array, Floats

LEAST_DOCUMENTS = 4  # whose pairs say anything about their collection


class Collection(Candidates):
    """Documents whose terms are weighed by a collection, laid out flat when a side first asks for them."""

    def __init__(self, encodings: Sequence[Encoding], rarity: Rarity) -> None:
        self.encodings, self.rarity = encodings, rarity
        self.lengths = np.array([e.words for e in encodings], dtype=np.int64)
        self.languages = np.array([e.document.language for e in encodings], dtype=str)
        self.titles = stack_titles([e.title_terms for e in encodings])
        self._terms: dict[TermColumn, tuple[TermMatrix, Floats]] = {}  # and norms

    @staticmethod
    def of(encodings: Sequence[Encoding], statistics: Statistics) -> "Collection":
        """A whole collection: what random pairs of it have in common is seen."""
        rarity = Rarity.of(encodings, statistics)
        return Collection(encodings, replace(rarity, unrelated=sampled_unrelated(encodings, rarity)))

    @cached_property
    def vectors(self) -> Array:
        """The documents' vectors, of length 1: (documents, width)."""
        return np.stack([e.vector for e in self.encodings])

    @cached_property
    def title_vectors(self) -> Array:
        """(documents, width); zeros for no title."""
        nothing = np.zeros(self.vectors.shape[1], np.float32)
        return np.stack([nothing if e.title_vector is None else e.title_vector for e in self.encodings])

    def find(self, column: TermColumn, terms: Hashes) -> Postings:
        """How often the documents have some terms."""
        return self._column(column)[0].find(terms)

    def norms(self, column: TermColumn) -> Floats:
        """The lengths of the documents' TF-IDF vectors."""
        return self._column(column)[1]

    def _column(self, name: TermColumn) -> tuple[TermMatrix, Floats]:
        if name not in self._terms:
            counts = [e.title_words if name == "title_words" else e.terms.of(name).counts for e in self.encodings]
            matrix = TermMatrix.of([Weighted(c.ids, c.counts) for c in counts])
            idf = (self.rarity.phrases if name == "phrases" else self.rarity.words).idf(matrix.vocabulary)
            weights = log_tf(matrix.values) * np.repeat(idf, np.diff(matrix.starts))
            norms = np.sqrt(np.bincount(matrix.document, weights**2, matrix.documents))
            self._terms[name] = matrix, norms
        return self._terms[name]

    def similarities(self, query: Encoding, sides: Sequence[str]) -> dict[str, Floats]:
        """The similarity of a query with every document on the sides asked for."""
        return similarities(Comparison(Query.of(WeighedDocument(query, self.rarity)), self), sides)

    def scores(self, query: Encoding) -> Floats:
        """The calibrated score of a query with every document."""
        return self.rarity.calibration.score(self.similarities(query, self.rarity.calibration.sides))

    def judge(self, query: Encoding) -> tuple[Floats, Floats]:
        """The score of a query with every document, and the probability that the two belong together."""
        return self.rarity.judge(self.similarities(query, self.rarity.sides), query.words, self.lengths)


def sampled_unrelated(encodings: Sequence[Encoding], rarity: Rarity, documents: int | None = None) -> Unrelated:
    """What unrelated documents have in common, by all pairs of at most SAMPLED documents drawn at random.

    `documents` is the size of the collection that the encodings were drawn from, where it is larger. Too few documents
    say nothing about their collection.
    """
    if len(encodings) < LEAST_DOCUMENTS:
        return prior_of(encodings, rarity.statistics)
    some = [encodings[i] for i in drawn_documents(len(encodings))]
    collection = Collection(some, rarity)
    known = SAMPLED_SIDES if rarity.trust[0] else SAMPLED_SIDES - named(lambda side: side.needs_language)
    sides = [name for name in rarity.statistics.probability.sides if name in known]
    rows = [collection.similarities(encoding, sides) for encoding in some]
    first, second = np.triu_indices(len(some), 1)
    values = {name: np.stack([row[name] for row in rows])[first, second] for name in sides}
    words = collection.lengths[first].astype(np.float64), collection.lengths[second].astype(np.float64)
    sample = Sample(values, np.minimum(*words), np.maximum(*words), documents or len(encodings))
    return rarity.statistics.prior.unrelated(known_of(some, rarity.statistics), sample)
