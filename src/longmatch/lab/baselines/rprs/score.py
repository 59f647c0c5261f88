"""The proportional relevance score, as matrix products and segment reductions.

A. Askari, S. Verberne, A. Abolghasemi, W. Kraaij, G. Pasi: "Retrieval for Extremely Long Queries and Documents with
RPRS: a Highly Efficient and Effective Transformer-based Re-Ranker", ACM Trans. Inf. Syst. 42(5), 2024.

Every sentence of the query has the n sentences nearest to it among those of all candidates: its hits. Of a candidate,

- the query's proportion is the share of the query's sentences that have a hit in it;
- the document's proportion is the share of its own sentences that are a hit of some sentence of the query;
- the score is their product.

With frequencies, a sentence counts not 1 but f / (f + k1 (1 - b + b length / mean length)), f being its number of hits:
BM25's saturation, length in sentences. Sentences as near as the n-th are hits too, so that the order of the candidates
decides nothing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from longmatch.encoders.flat import groups_within
from longmatch.encoders.ragged import segment_mean, segment_sum

CELLS = 1 << 25  # of the product held at a time
SAME = 1e-5  # cosines that differ by less are one: the same product in slices of another size is rounded otherwise


@dataclass(frozen=True)
class Rule:
    """How many hits a sentence has, and how their number counts: once (`k1` None) or as in BM25."""

    hits: int = 10
    k1: float | None = None
    b: float = 0.75


@dataclass(frozen=True)
class Pool:
    """The sentence vectors of all candidates (sentences, width), and where each candidate's begin."""

    vectors: Tensor
    offsets: Tensor  # (candidates + 1,)

    @staticmethod
    def of(documents: Iterable[Tensor]) -> "Pool":
        """Candidates one after another."""
        found = list(documents)
        lengths = torch.tensor([0, *(len(vectors) for vectors in found)])
        return Pool(torch.cat(found), lengths.cumsum(0))


@dataclass(frozen=True)
class Hits:
    """Who answers whom: of each candidate, how many of its sentences are hits of each sentence of the query
    (candidates, query sentences); of each sentence of the candidates, of how many sentences of the query it is a hit.
    """

    asked: Tensor
    answers: Tensor  # (sentences,)
    offsets: Tensor  # (candidates + 1,)

    @staticmethod
    def join(parts: list["Hits"]) -> "Hits":
        """Of candidates in slices, those of them all."""
        lengths = torch.cat([part.offsets.diff() for part in parts])
        zero = lengths.new_zeros(1)
        asked, answers = torch.cat([part.asked for part in parts]), torch.cat([part.answers for part in parts])
        return Hits(asked, answers, torch.cat([zero, lengths.cumsum(0)]))


def nearest(query: Tensor, pool: Pool, hits: int, own: int | None = None) -> Tensor:
    """The best cosines of each sentence of the query in the pool, best first: (at most `hits`, query sentences).

    `own` is the query's number among the candidates: it is no candidate for itself.
    """
    best = query.new_empty((0, len(query)))
    for first, last in _slices(pool, len(query)):
        start, stop = int(pool.offsets[first]), int(pool.offsets[last])
        cosines = pool.vectors[start:stop] @ query.T  # (sentences, query sentences)
        if own is not None and first <= own < last:
            before, after = int(pool.offsets[own]) - start, int(pool.offsets[own + 1]) - start
            cosines = torch.cat([cosines[:before], cosines[after:]])
        best = best_of([best, cosines], hits)
    return best


def best_of(parts: list[Tensor], hits: int) -> Tensor:
    """The best cosines of several parts of a pool: (at most `hits`, query sentences)."""
    every = torch.cat(parts)
    return every.topk(min(hits, len(every)), dim=0).values


def find_hits(query: Tensor, pool: Pool, best: Tensor) -> Hits:
    """The sentences as near as the last of the best."""
    bar = best[-1] - SAME if len(best) else query.new_full((len(query),), -2.0)  # (query sentences,)
    parts = []
    for first, last in _slices(pool, len(query)):
        offsets = pool.offsets[first : last + 1]
        cosines = pool.vectors[int(offsets[0]) : int(offsets[-1])] @ query.T
        hit = (cosines >= bar).float()  # (sentences, query sentences)
        offsets = offsets - offsets[0]
        parts.append(Hits(segment_sum(hit, offsets), hit.sum(1), offsets))
    return Hits.join(parts)


def proportional_scores(hits: Hits, rule: Rule) -> Tensor:
    """The query's proportion times the document's, for every candidate: (candidates,)."""
    lengths = hits.offsets.diff().float()[:, None]
    slack = torch.zeros_like(lengths)
    if rule.k1 is not None:
        slack = rule.k1 * (1 - rule.b + rule.b * lengths / lengths.mean().clamp(min=1))  # (candidates, 1)
    of_query = _counted(hits.asked, slack).mean(1)
    answers = _counted(hits.answers[:, None], slack.repeat_interleave(hits.offsets.diff(), dim=0))
    return of_query * segment_mean(answers, hits.offsets)[:, 0]


def rprs_scores(query: Tensor, pool: Pool, rule: Rule, own: int | None = None) -> Tensor:
    """The score of every candidate: (candidates,)."""
    best = nearest(query, pool, rule.hits, own)
    return proportional_scores(find_hits(query, pool, best), rule)


def _counted(frequency: Tensor, slack: Tensor) -> Tensor:
    """f / (f + slack), and 0 for no hit; without slack that is 1 for any hit."""
    return frequency / (frequency + slack).clamp(min=1e-9)


def _slices(pool: Pool, columns: int) -> Iterator[tuple[int, int]]:
    """Runs of whole candidates whose product with the query fits."""
    return groups_within(pool.offsets.diff().cpu(), CELLS // max(1, columns))
