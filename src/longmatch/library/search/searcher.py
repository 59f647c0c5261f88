"""A search over one version of a library, from the query to the hits."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from longmatch.default.comparison import Query, WeighedDocument
from longmatch.default.encoding import Encoding
from longmatch.default.explanation import Explanation, aligned_passages, explain_each
from longmatch.default.rarity import Language, Rarity, no_verdict
from longmatch.default.statistics import Statistics
from longmatch.library.conditions import parse
from longmatch.library.index.index import Index
from longmatch.library.index.segment import Segment
from longmatch.library.row_cache import RowCache
from longmatch.library.rows import ENCODING_COLUMNS
from longmatch.library.search.candidates import Nearest, Scope, find_candidates
from longmatch.library.search.encode import is_question
from longmatch.library.search.explain import PASSAGES, Ranking
from longmatch.library.search.score import Scored, StoredCandidates, score_candidates
from longmatch.library.store import Store
from longmatch.matching.match import Alignment
from longmatch.matching.wording import NoVerdict
from longmatch.ragged import Floats

PRELOADED = 32  # documents read at a time
KEPT_BYTES = 512 << 20  # of documents as they are shown: a thousand of two thousand words


@dataclass(frozen=True)
class Searcher:
    """The store, an index of the same version, and the statistics behind the score."""

    store: Store
    index: Index
    statistics: Statistics
    candidates: int  # of each kind that are scored exactly
    exact_below: int  # documents: from there on document vectors are searched by an approximate index
    kept: RowCache[WeighedDocument] = field(default_factory=lambda: RowCache(KEPT_BYTES))

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
        if documents < self.exact_below or not self.store.has_vector_index():
            return None
        filtered = parse(where).sql if where else None
        return lambda vector, count: self.store.nearest(vector, count, filtered)

    def is_small(self, scope: Scope) -> bool:
        """Whether all documents of a scope are scored."""
        return len(scope) <= 3 * self.candidates

    def candidate_ids(self, query: Query, scope: Scope, where: str | None) -> list[str]:
        """Those to score, sorted: of a small scope all, of a large one those that any side finds."""
        if self.is_small(scope):
            return sorted(scope.ids)
        return sorted(find_candidates(query, self.index, scope, self.candidates, self.nearest(len(scope), where)))

    def rank(self, query: Query, k: int, where: str | None = None) -> Ranking:
        """The k documents with the best default score, of those that fulfil a user's condition."""
        scope = self.scope(where, without=query.stored_id)
        ids = self.candidate_ids(query, scope, where)
        best = self.score(query, ids, None if self.is_small(scope) else k)
        not_lower = np.searchsorted(-best.scores, -best.scores[:k], side="right")
        percentiles = 100.0 * (len(scope) - not_lower) / max(1, len(scope))
        return self._ranking(query, best.first(k), percentiles, len(scope))

    def score(self, query: Query, ids: Sequence[str], most: int | None = None) -> Scored:
        """Documents of the index by their default score, best first; perhaps only the best `most`."""
        return score_candidates(query, StoredCandidates(ids, self.index, self.store), self.index.rarity, most)

    def _ranking(self, query: Query, best: Scored, percentiles: Floats, total: int) -> Ranking:
        rarity = self.index.rarity
        weighed = {document.id: document for document in self.weighed(best.ids)}
        present = [i for i, id in enumerate(best.ids) if id in weighed]  # another process may have removed some
        best, percentiles = best.at(present), percentiles[present]
        documents = [weighed[id] for id in best.ids]
        number = {id: i for i, id in enumerate(best.ids)}
        language = Language.of(query.encoding, self.statistics.terms)
        words = np.array([document.encoding.words for document in documents], dtype=np.int64)
        doubts = rarity.doubts(best.similarities, query.words, words)

        def explain(candidates: Sequence[Encoding]) -> list[tuple[Alignment, ...]]:
            """By the similarities that they were scored by."""
            places = [number[candidate.document.id] for candidate in candidates]
            if not places or query.document is None:
                return []
            shown = best.at(places)
            compared = [documents[i] for i in places]
            known = [shown.partners_with(document) for document in compared]
            judged = shown.similarities, shown.scores, shown.probabilities
            return aligned_passages(explain_each(query.document, compared, rarity, *judged, known), PASSAGES)

        def unknown(candidate: Encoding) -> NoVerdict | None:
            if is_question(query.words, query.stored_id):
                return "question"
            place = number[candidate.document.id]
            phrases, doubt = float(best.similarities["phrases"][place]), float(doubts[place])
            return no_verdict(language, Language.of(candidate, self.statistics.terms), rarity, phrases, doubt)

        candidates = [document.encoding for document in documents]
        return Ranking(query, candidates, best.scores, percentiles, total, explain, best.probabilities, unknown)

    def explain(self, a: Encoding, b: Encoding, rarity: Rarity | None = None) -> Explanation:
        """Two documents compared, by the terms of the whole library unless another rarity is given."""
        return Explanation.of(a, b, rarity or self.index.rarity)

    def encodings(self, ids: Sequence[str]) -> list[Encoding]:
        """Documents as they were encoded when they were added."""
        return [document.encoding for document in self.weighed(ids)]

    def preload(self) -> None:
        """Read as many documents as are kept between questions, for showing and, without records, for scoring."""
        self.index.rarity.boilerplate.prepare()
        ids = self.scope().ids
        steps = [ids[start : start + PRELOADED] for start in range(0, len(ids), PRELOADED)]
        for step in steps:
            for document in self.weighed(step):
                _ = document.weighed  # what a search with it needs
            if self.kept.is_full:
                break
        for step in () if self.index.keeps_records else steps:
            self.store.sentences(step)
            if self.store.kept_sentences.is_full:
                break

    def weighed(self, ids: Sequence[str]) -> list[WeighedDocument]:
        """Documents with their terms weighed by the whole library; kept for the next question."""
        rarity = self.index.rarity

        def read(unread: Sequence[str]) -> list[WeighedDocument]:
            """From the index, or from the store what has no record there, and all if the store has changed since."""
            indexed = self.index.select(unread if self.index.version == self.store.version else [])
            encodings = zip(indexed.ids, indexed.each(Segment.encoding), strict=True)
            found = {
                id: WeighedDocument(encoding, rarity, partial(self.index.counted_terms, id))
                for id, encoding in encodings
                if encoding is not None
            }
            rows = self.store.fetch([id for id in unread if id not in found], ENCODING_COLUMNS)
            return [*found.values(), *(WeighedDocument(row.encoding(), rarity) for row in rows)]

        return self.kept.get(ids, self.store.version, read)
