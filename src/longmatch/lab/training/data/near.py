"""Which documents share most words with another: the non-matches that are hard to tell from matches."""

from collections.abc import Iterator

import numpy as np

from longmatch.lab.store.tokens import TokenCollection
from longmatch.lab.training.data.candidates import Candidates
from longmatch.lexical.frequencies import Frequencies
from longmatch.lexical.terms import Counts
from longmatch.lexical.weights import TermMatrix, bm25, bm25_query
from longmatch.units.tokens import Ints

NEAREST = 40  # as many as a first stage hands on to be ranked anew


class NearDocuments:
    """BM25 over the candidates, whose terms are their tokens: what a first stage finds."""

    def __init__(self, tokens: TokenCollection, candidates: Candidates) -> None:
        self.tokens, self.candidates = tokens, candidates
        pool = candidates.all
        counts = [self._counts(number) for number in pool.tolist()]
        frequencies, mean_length = Frequencies.of(counts), float(tokens.lengths[pool].mean()) if len(pool) else 1.0
        self._weights = TermMatrix.of([bm25(one, frequencies, mean_length) for one in counts])

    def nearest(self, queries: Ints, most: int = NEAREST) -> Iterator[Ints]:
        """Of each query the candidates that share most with it, best first; never the query itself."""
        for query in queries.tolist():
            order = np.argsort(-self._weights.scores(bm25_query(self._counts(query))), kind="stable")
            best = self.candidates.all[order]
            own = self.candidates.of.get(query)
            best = best if own is None else best[np.isin(best, own)]
            yield best[best != query][:most]

    def _counts(self, number: int) -> Counts:
        return Counts.of(self.tokens.piece(number, 0, int(self.tokens.lengths[number])).astype(np.uint64))
