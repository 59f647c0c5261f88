"""A second stage: reranking the documents that another model found."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from longmatch.documents.document import Document
from longmatch.matching.matcher import Encoder, Matcher, Progress, Scores
from longmatch.matching.pair_matcher import PairMatcher

DEPTH = 40  # documents reranked by default, as SST's authors do


class Ranked(NamedTuple):
    """A document's place among those given, its score, and the share of the collection that scores lower."""

    place: int
    score: float
    percentile: float


def rerank(
    matcher: Matcher,
    query: Document,
    found: Sequence[Document],
    k: int,
    total: int,
    progress: Progress | None = None,
    *,
    first: Scores | None = None,
) -> list[Ranked]:
    """The k best of the documents found, best first; ties break by id.

    Of a collection of `total` documents those that were not found count as lower. With `first`, the scores by which
    they were found, the order that they are in counts as much as the model's, and their scores stay these.
    """
    own = scores_with(matcher, query, found, progress)
    places = np.arange(len(found), dtype=np.float64)
    scores, better = (own, own) if first is None else (first, average_ranks(own, -places))
    order = sorted(range(len(found)), key=lambda i: (-better[i], found[i].id))[:k]
    lower = total - len(found)
    return [Ranked(i, float(scores[i]), 100.0 * (lower + int((scores < scores[i]).sum())) / total) for i in order]


def average_ranks(one: Scores, other: Scores) -> Scores:
    """The mean of the ranks by two scores, the lowest score 0; equal scores share the mean of their ranks.

    >>> average_ranks(np.array([0.1, 0.9, 0.5]), np.array([30.0, 20.0, 20.0])).tolist()
    [1.0, 1.25, 0.75]
    """

    def ranks(scores: Scores) -> Scores:
        _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
        ranked: Scores = (counts.cumsum() - (counts + 1) / 2)[place]
        return ranked

    return (ranks(one) + ranks(other)) / 2


def scores_with(
    matcher: Matcher, query: Document, documents: Sequence[Document], progress: Progress | None = None
) -> Scores:
    """The score of a query with each of some documents, by whatever a matcher can do."""
    if isinstance(matcher, PairMatcher):
        return matcher.score_pairs([(query, document) for document in documents], progress, for_ranking=True)
    if isinstance(matcher, Encoder) and documents:
        encoder: Encoder[Any, Any] = matcher
        first, *rest = encoder.encode([query, *documents], progress)
        return encoder.score(first, encoder.collect(rest))
    return np.array([matcher.compare(query, document).score for document in documents], dtype=np.float64)
