"""Step 3: scores. The default score of a query with candidates, by the terms of the whole library."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from longmatch.default.comparison import Candidates, Comparison, Query, TermColumn
from longmatch.default.rarity import Rarity
from longmatch.default.sides import similarities
from longmatch.lexical.terms import Hashes, Ints, lookup
from longmatch.lexical.weights import Postings
from longmatch.library.index.index import Index, language_code
from longmatch.library.index.segment import TITLE_WORDS, Occurrences
from longmatch.ragged import Array, Floats


class StoredCandidates(Candidates):
    """Documents of an index."""

    def __init__(self, ids: Sequence[str], index: Index) -> None:
        self.selected, self.index = index.select(ids), index
        self.ids = self.selected.ids  # of those that the index has
        if self.ids:
            self.lengths = np.asarray(self.selected.column("lengths"))
            codes = self.selected.column("languages").tolist()
            self.languages = np.array([language_code(number) for number in codes])
            self.titles = np.asarray(self.selected.column("titles"))

    @cached_property
    def vectors(self) -> Array:
        """(candidates, width)"""
        return self.selected.column("means")

    @cached_property
    def title_vectors(self) -> Array:
        """(candidates, width)"""
        return self.selected.column("title_vectors").astype(np.float32)

    def find(self, column: TermColumn, terms: Hashes) -> Postings:
        """Among all terms of the documents, not only those that the index finds them by."""
        if column != TITLE_WORDS:
            return self.selected.find(column, terms)
        position, present = lookup(terms, self._title_words.term)
        words = self._title_words
        return Postings(words.document[present], position[present], words.count[present])

    def norms(self, column: TermColumn) -> Floats:
        """The lengths of the documents' TF-IDF vectors."""
        if column == TITLE_WORDS:
            return self._title_words.norms(self.index.rarity.words.idf(self._title_words.term))
        return self.selected.column(f"{column}.norms").astype(np.float64)

    @cached_property
    def _title_words(self) -> Occurrences:
        return self.selected.occurrences(TITLE_WORDS)


@dataclass(frozen=True)
class Scored:
    """Candidates with their similarities on each side, their scores and probabilities."""

    ids: list[str]
    similarities: Mapping[str, Floats]
    scores: Floats
    probabilities: Floats

    def at(self, places: Sequence[int] | Ints) -> "Scored":
        """Some of them."""
        values = {name: values[places] for name, values in self.similarities.items()}
        return Scored([self.ids[i] for i in places], values, self.scores[places], self.probabilities[places])


def score_candidates(query: Query, candidates: StoredCandidates, rarity: Rarity) -> Scored:
    """The candidates, best first; ties break by id."""
    if not candidates.ids:
        return Scored([], {}, np.zeros(0), np.zeros(0))
    values = similarities(Comparison(query, candidates), rarity.sides)
    found = Scored(list(candidates.ids), values, *rarity.judge(values, query.words, candidates.lengths))
    return found.at(sorted(range(len(found.ids)), key=lambda i: (-found.scores[i], found.ids[i])))
