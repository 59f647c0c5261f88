"""Step 4: the hits. The best candidates as a user sees them, each with the passages that say why."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from longmatch.default.comparison import Query
from longmatch.default.encoding import Encoding
from longmatch.documents.document import Document
from longmatch.library.errors import LibraryError
from longmatch.matching.hits import Hit, Hits, Reasons, SameDocument
from longmatch.matching.matcher import Matcher, Progress, rerank
from longmatch.ragged import Floats
from longmatch.reuse.reuse import VERSION, find_reuse
from longmatch.reuse.words import shingles

MOST = 5  # entries that are set apart
PATIENCE = 2  # candidates that are not the query, after which no other is looked at
LENGTH = 6  # words of a run
RANK = 10  # what is added to a place before its reciprocal is taken
LIKELY = 0.15  # share of the runs of the shorter text that two versions have in common at least


@dataclass(frozen=True)
class Ranking:
    """The best candidates, best first, and what explains them."""

    query: Query
    candidates: Sequence[Encoding]
    scores: Floats
    percentiles: Floats  # share of the documents searched that score lower, in percent
    total: int  # documents searched
    explain: Callable[[Sequence[Encoding]], Sequence[Reasons]]  # why some of the candidates were found

    def without(self, ids: Collection[str], k: int) -> "Ranking":
        """The first k that have none of these ids, as if the library had no such documents."""
        is_out = np.array([candidate.document.id in ids for candidate in self.candidates], dtype=bool)
        lower = self.percentiles * self.total / 100.0 - (self.scores[is_out] < self.scores[:, None]).sum(1)
        total, kept = self.total - int(is_out.sum()), np.flatnonzero(~is_out)[:k]
        return replace(
            self,
            candidates=[self.candidates[i] for i in kept.tolist()],
            scores=self.scores[kept],
            percentiles=100.0 * lower[kept] / max(1, total),
            total=total,
        )

    def reranked(self, matcher: Matcher, k: int, progress: Progress | None = None, *, combine: bool) -> "Ranking":
        """The k best by both, or by another model alone, which reads the texts; probabilities and passages stay.

        Scores stay too where both orders count; where the other model decides alone, they are its own.
        """
        query = self.query.encoding.document
        documents = [candidate.document for candidate in self.candidates]
        for document in (query, *documents):
            if not document.text.strip():
                raise LibraryError(
                    f"The library holds no text of {document.id}, so {matcher.name} cannot read it. "
                    "Remove it and index its file again, or rank without a second model."
                )
        best = rerank(matcher, query, documents, k, self.total, progress, first=self.scores if combine else None)
        return replace(
            self,
            candidates=[self.candidates[ranked.place] for ranked in best],
            scores=np.array([ranked.score for ranked in best]),
            percentiles=np.array([ranked.percentile for ranked in best]),
        )

    def led_by(self, ids: Sequence[str], k: int, weight: float) -> "Ranking":
        """The first k in an order in which that of some documents counts `weight` times as much as the one they are in.

        Reciprocal ranks are added up (Cormack et al., Reciprocal rank fusion, 2009). Scores stay.
        """
        worth = {id: weight / (RANK + place) for place, id in enumerate(ids)}
        mixed = [1 / (RANK + i) + worth.get(one.document.id, 0.0) for i, one in enumerate(self.candidates)]
        order = np.argsort(-np.array(mixed), kind="stable")[:k]
        return replace(
            self,
            candidates=[self.candidates[i] for i in order.tolist()],
            scores=self.scores[order],
            percentiles=self.percentiles[order],
        )

    def hits(self, present: Callable[[Document], Document]) -> Hits:
        """The hits with their passages; `present` makes a stored document one that a user can open."""
        columns = self.scores.tolist(), self.percentiles.tolist(), self.explain(self.candidates)
        hits = [
            Hit(present(candidate.document), score, percentile, why.passages, why.probability, why_not=why.why_not)
            for candidate, score, percentile, why in zip(self.candidates, *columns, strict=True)
        ]
        return Hits.of(self.query.encoding.document, hits)


def same_documents(query: Encoding, candidates: Sequence[Encoding]) -> list[SameDocument]:
    """Of candidates, best first, those that hold the text of the query: copies and versions score highest."""
    found: list[SameDocument] = []
    runs = np.unique(shingles(query.terms.words.ids, LENGTH))
    for looked_at, candidate in enumerate(candidates):
        if looked_at - len(found) == PATIENCE or len(found) == MOST:
            break
        # the sizes and the runs of words must allow the two to be versions
        shorter, longer = sorted((query.words, candidate.words))
        if 2 * shorter < VERSION * (shorter + longer):
            continue
        others = np.unique(shingles(candidate.terms.words.ids, LENGTH))
        common = len(np.intersect1d(runs, others, assume_unique=True))
        if common >= LIKELY * min(len(runs), len(others)):
            reuse = find_reuse(query.document, candidate.document)
            if reuse.relation == "copy":
                found.append(SameDocument(candidate.document, "copy"))
            elif reuse.relation == "version" and not reuse.may_be_template:
                found.append(SameDocument(candidate.document, "version"))
    return found
