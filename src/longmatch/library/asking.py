"""Questions to a library: the documents that belong with one, and why."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from longmatch.default.collection import Collection, Rarity
from longmatch.default.encoding import Encoding
from longmatch.default.explanation import Explanation
from longmatch.default.statistics import Statistics
from longmatch.library.index.index import Index
from longmatch.library.index.terms import Floats
from longmatch.library.rows import ENCODING_COLUMNS
from longmatch.library.search import Living, Nearest, candidates, score
from longmatch.library.store import Store
from longmatch.matching.match import Alignment
from longmatch.matching.matcher import percentile


@dataclass(frozen=True)
class Answer:
    """A document found, as the store has it."""

    encoding: Encoding
    score: float
    percentile: float
    explain: Callable[[], tuple[Alignment, ...]]

    @property
    def why(self) -> tuple[Alignment, ...]:
        """The passages that carry most of the score; worked out when they are asked for."""
        return self.explain()


@dataclass(frozen=True)
class Asking:
    """What a question needs: the store, the index and the statistics."""

    store: Store
    index: Index
    statistics: Statistics

    def rank(
        self, query: Encoding, living: Living, k: int, count: int, whole: bool, nearest: Nearest | None = None
    ) -> list[Answer]:
        """The k best of the living documents. `whole` says that they are all the library has, but for the query.

        Few documents are all scored, as in memory; of many, only the candidates.
        """
        if whole and len(living) <= 3 * count:
            return self._all(query, living.ids, k)
        found = score(
            query, candidates(query, self.index, living, count, nearest), self.store, self.index, self.statistics
        )
        encodings = self.encodings(found.ids[:k])
        rarity = self.index.rarity([query, *encodings])
        higher = np.searchsorted(-found.scores, -found.scores[:k], side="right")  # those that do not score less
        shares = 100.0 * (len(living) - higher) / max(1, len(living))
        return self._answers(query, encodings, found.scores[:k], shares, rarity)

    def _all(self, query: Encoding, ids: Sequence[str], k: int) -> list[Answer]:
        encodings = self.encodings(sorted(ids))
        if not encodings:
            return []
        collection = Collection.of(encodings, self.statistics)
        scores = collection.scores(query, self.statistics)
        best = np.argsort(-scores, kind="stable")[:k]
        shares = np.array([percentile(scores, int(i)) for i in best])
        return self._answers(query, [encodings[i] for i in best], scores[best], shares, collection.rarity)

    def _answers(
        self, query: Encoding, found: Sequence[Encoding], scores: Floats, shares: Floats, rarity: Rarity
    ) -> list[Answer]:
        return [
            Answer(encoding, float(value), float(share), partial(self._why, query, encoding, rarity))
            for encoding, value, share in zip(found, scores, shares, strict=True)
        ]

    def _why(self, query: Encoding, found: Encoding, rarity: Rarity) -> tuple[Alignment, ...]:
        return self.explain(query, found, rarity).alignments(3)

    def explain(self, a: Encoding, b: Encoding, rarity: Rarity | None = None) -> Explanation:
        """Two documents compared, by the words of the whole collection."""
        return Explanation.of(a, b, self.statistics, rarity or self.index.rarity([a, b]))

    def encodings(self, ids: Sequence[str]) -> list[Encoding]:
        """Documents as they were encoded."""
        return [row.encoding() for row in self.store.fetch(ids, ENCODING_COLUMNS)]
