"""What every system offers that reads two documents together: it scores pairs, and cannot be indexed."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from longmatch.documents.document import Document
from longmatch.matching.hits import Hit, Hits
from longmatch.matching.matcher import Matcher, Progress, Scores, is_same, percentile

Pairs = Sequence[tuple[Document, Document]]


class PairMatcher(Matcher):
    """A matcher that has to see both documents of a pair: the second stage behind one that can be indexed."""

    @property
    def networks(self) -> Sequence[Any]:
        """The torch modules it computes with; their weights and settings tell one trained model from another."""
        return ()

    @abstractmethod
    def score_pairs(self, pairs: Pairs, progress: Progress | None = None, for_ranking: bool = False) -> Scores:
        """The score of each pair, many at a time; `progress` is called with the number of pairs done.

        Some score documents otherwise to put them in order (`for_ranking`) than to tell whether they belong together.
        """

    def rank(
        self, query: Document, documents: Sequence[Document], k: int = 10, progress: Progress | None = None
    ) -> Hits:
        """The k documents that belong most with the query, best first; ties break by id."""
        others = [d for d in documents if not is_same(d, query)]
        scores = self.score_pairs([(query, other) for other in others], progress, for_ranking=True)
        best = sorted(range(len(others)), key=lambda i: (-scores[i], others[i].id))[:k]
        whys = (self.compare(query, others[i]).best(3) for i in best)
        found = (
            Hit(others[i], float(scores[i]), percentile(scores, i), why) for i, why in zip(best, whys, strict=True)
        )
        return Hits.of(query, found)
