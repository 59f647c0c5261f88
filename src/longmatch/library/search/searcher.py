"""A search over one version of a library, from the query to the hits."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from longmatch.default.comparison import Query, WeighedDocument
from longmatch.default.encoding import Encoding
from longmatch.default.explanation import Explanation, explain_each, explain_hits
from longmatch.default.rarity import Rarity
from longmatch.default.statistics import Statistics
from longmatch.library.conditions import parse
from longmatch.library.index.index import Index
from longmatch.library.index.segment import Segment
from longmatch.library.row_cache import RowCache
from longmatch.library.rows import ENCODING_COLUMNS
from longmatch.library.search.candidates import Nearest, Scope, find_candidates
from longmatch.library.search.encode import is_question
from longmatch.library.search.explain import Ranking
from longmatch.library.search.score import Scored, StoredCandidates, score_candidates
from longmatch.library.settings import LibrarySettings
from longmatch.library.store import Store
from longmatch.matching.hits import Reasons
from longmatch.matching.matcher import SHOWN

PRELOADED = 32  # documents read at a time


@dataclass(frozen=True)
class Searcher:
    """The store, an index of the same version, and the statistics behind the score."""

    store: Store
    index: Index
    statistics: Statistics
    settings: LibrarySettings
    kept: RowCache[WeighedDocument]

    def query(self, encoding: Encoding, stored_id: str | None = None) -> Query:
        """What to search with; a document of the library is as it is kept."""
        for document in self.weighed([stored_id] if stored_id else []):
            if document.encoding is encoding:
                return Query.of(document, stored_id)
        return Query.of(WeighedDocument(encoding, self.index.rarity), stored_id)

    def scope(self, where: str | None = None, without: str | None = None) -> Scope:
        """The documents that fulfil a user's condition, `without` the query itself."""
        return Scope.of(self.index, self.store.ids_where(where) if where else None, without)

    def nearest(self, documents: int, where: str | None = None) -> Nearest | None:
        """How to find the nearest vectors among many documents; None where they are few enough to compare with all."""
        if documents < self.settings.exact_below or not self.store.has_vector_index():
            return None
        filtered = parse(where).sql if where else None
        return lambda vector, count: self.store.nearest(vector, count, filtered)

    @property
    def most_candidates(self) -> int:
        """The most documents that are scored for a query: those that each of three ways finds."""
        return 3 * self.settings.candidates

    def is_small(self, scope: Scope) -> bool:
        """Whether all documents of a scope are scored."""
        return len(scope) <= self.most_candidates

    def candidate_ids(self, query: Query, scope: Scope, where: str | None) -> list[str]:
        """Those to score, sorted: of a small scope all, of a large one those that any side finds."""
        if self.is_small(scope):
            return sorted(scope.ids)
        return sorted(
            find_candidates(query, self.index, scope, self.settings.candidates, self.nearest(len(scope), where))
        )

    def rank(self, query: Query, k: int, where: str | None = None) -> Ranking:
        """The k documents with the best default score, of those that fulfil a user's condition."""
        scope = self.scope(where, without=query.stored_id)
        ids, rarity = self.candidate_ids(query, scope, where), self.index.rarity
        scored = self.score(query, ids)
        weighed = {document.id: document for document in self.weighed(scored.ids[:k])}
        # another process may have removed some
        best = scored.at([i for i, id in enumerate(scored.ids[:k]) if id in weighed])
        not_lower = np.searchsorted(-scored.scores, -best.scores, side="right")
        percentiles = 100.0 * (len(scope) - not_lower) / max(1, len(scope))
        place = {id: i for i, id in enumerate(best.ids)}
        question = is_question(query.words, query.stored_id)

        def explain(candidates: Sequence[Encoding]) -> list[Reasons]:
            """By the similarities that they were scored by."""
            if not candidates or query.document is None:
                return []
            shown = best.at([place[candidate.document.id] for candidate in candidates])
            documents = [weighed[id] for id in shown.ids]
            judged = shown.similarities, shown.scores, shown.probabilities
            explanations = explain_each(query.document, documents, rarity, *judged)
            return explain_hits(explanations, SHOWN, [question] * len(explanations))

        return Ranking(query, [weighed[id].encoding for id in best.ids], best.scores, percentiles, len(scope), explain)

    def score(self, query: Query, ids: Sequence[str]) -> Scored:
        """Documents of the index by their default score, best first."""
        return score_candidates(query, StoredCandidates(ids, self.index), self.index.rarity)

    def explain(self, a: Encoding, b: Encoding, rarity: Rarity | None = None) -> Explanation:
        """Two documents compared, by the terms of the whole library unless another rarity is given."""
        return Explanation.of(a, b, rarity or self.index.rarity)

    def encodings(self, ids: Sequence[str]) -> list[Encoding]:
        """Documents as they were encoded when they were added."""
        return [document.encoding for document in self.weighed(ids)]

    def preload(self) -> None:
        """Read as many documents as are kept between questions."""
        self.index.rarity.boilerplate.prepare()
        ids = self.scope().ids
        for start in range(0, len(ids), PRELOADED):
            for document in self.weighed(ids[start : start + PRELOADED]):
                _ = document.weighed  # what a search with it needs
            if self.kept.is_full:
                break

    def weighed(self, ids: Sequence[str]) -> list[WeighedDocument]:
        """Documents with their terms weighed by the whole library; kept for the next question."""
        rarity = self.index.rarity

        def read(unread: Sequence[str]) -> list[WeighedDocument]:
            """From the index, or from the store what has no record there, and all if the store has changed since."""
            indexed = self.index.select(unread if self.index.version == self.store.version else [])
            restore = partial(Segment.encoding, vectors=self.store.model.vectors, meaning=self.store.meaning)
            encodings = zip(indexed.ids, indexed.each(restore), strict=True)
            found = {
                id: WeighedDocument(encoding, rarity, partial(self.index.counted_terms, id))
                for id, encoding in encodings
                if encoding is not None
            }
            rows = self.store.fetch([id for id in unread if id not in found], ENCODING_COLUMNS)
            return [*found.values(), *(WeighedDocument(row.encoding(), rarity) for row in rows)]

        return self.kept.get(ids, self.store.version, read)
