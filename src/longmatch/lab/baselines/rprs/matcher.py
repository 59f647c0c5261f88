"""RPRS: which proportion of each document's sentences has a counterpart in the other; untrained, over any backbone.

A. Askari, S. Verberne, A. Abolghasemi, W. Kraaij, G. Pasi: "Retrieval for Extremely Long Queries and Documents with
RPRS: a Highly Efficient and Effective Transformer-based Re-Ranker", ACM Trans. Inf. Syst. 42(5), 2024.

The hits of a query sentence are the n sentences nearest to it among those of all candidates. For each candidate,

- the query's proportion is the share of the query's sentences that have a hit in it;
- the document's proportion is the share of its sentences that are a hit of some query sentence;
- the score is their product.

With frequencies, a sentence counts not 1 but f / (f + k1 (1 - b + b length / mean length)), where f is its number of
hits: BM25's saturation, with lengths in sentences. Sentences as near as the n-th are hits too, so that the order of the
candidates does not matter.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor

from longmatch.default.statistics import background_of
from longmatch.documents.document import Document
from longmatch.encoders.backbone import Backbone
from longmatch.lab.encoders.flat import groups_within
from longmatch.lab.encoders.ragged import offsets_of, segment_mean, segment_sum
from longmatch.lab.explanation import explained_match, group_grid, nearest_evidence
from longmatch.matching.align import Floats
from longmatch.matching.levels import SIZES, SentenceVectors, group_scores
from longmatch.matching.match import Grid, Level, Match
from longmatch.matching.matcher import Encoder, Progress, Scores
from longmatch.matching.sentence_vectors import sentence_vectors
from longmatch.matching.sentences import Sentences

CELLS = 1 << 25  # of the cosine matrix computed at a time
TOLERANCE = 1e-5  # between equal cosines: rounding depends on the size of the slices


@dataclass(frozen=True)
class RprsRule:
    """The number of hits per sentence, and how they count: once (`k1` None) or saturated as in BM25."""

    hits: int = 10
    k1: float | None = None
    b: float = 0.75


@dataclass(frozen=True)
class SentencePool:
    """The sentence vectors of all candidates (sentences, width), and the candidates' offsets."""

    vectors: Tensor
    offsets: Tensor  # (candidates + 1,)

    @staticmethod
    def of(documents: Sequence[Tensor]) -> "SentencePool":
        """Concatenate the candidates."""
        return SentencePool(torch.cat(list(documents)), offsets_of(torch.tensor([len(each) for each in documents])))


@dataclass(frozen=True)
class Hits:
    """Counts of hits per query sentence and candidate, and per sentence of the candidates."""

    per_query: Tensor  # (candidates, query sentences) hits of each query sentence in each candidate
    per_sentence: Tensor  # (sentences,) query sentences that each sentence is a hit of
    offsets: Tensor  # (candidates + 1,)

    @staticmethod
    def join(parts: list["Hits"]) -> "Hits":
        """Concatenate the hits in slices of the candidates."""
        per_query = torch.cat([part.per_query for part in parts])
        per_sentence = torch.cat([part.per_sentence for part in parts])
        return Hits(per_query, per_sentence, offsets_of(torch.cat([part.offsets.diff() for part in parts])))


def nearest_cosines(query: Tensor, pool: SentencePool, hits: int, skip: int | None = None) -> Tensor:
    """The best cosines of each query sentence in the pool, best first: (at most `hits`, query sentences).

    `skip` is the candidate to leave out: the query itself, if it is one.
    """
    best = query.new_empty((0, len(query)))
    for first, last in _slices(pool, len(query)):
        start, stop = int(pool.offsets[first]), int(pool.offsets[last])
        cosines = pool.vectors[start:stop] @ query.T  # (sentences, query sentences)
        if skip is not None and first <= skip < last:
            before, after = int(pool.offsets[skip]) - start, int(pool.offsets[skip + 1]) - start
            cosines = torch.cat([cosines[:before], cosines[after:]])
        best = top_cosines([best, cosines], hits)
    return best


def top_cosines(parts: list[Tensor], hits: int) -> Tensor:
    """The best cosines over several parts of a pool: (at most `hits`, query sentences)."""
    cosines = torch.cat(parts)
    return cosines.topk(min(hits, len(cosines)), dim=0).values


def find_hits(query: Tensor, pool: SentencePool, best: Tensor) -> Hits:
    """The sentences at least as near as the last of the best cosines."""
    threshold = best[-1] - TOLERANCE if len(best) else query.new_full((len(query),), -2.0)  # (query sentences,)
    parts = []
    for first, last in _slices(pool, len(query)):
        offsets = pool.offsets[first : last + 1]
        cosines = pool.vectors[int(offsets[0]) : int(offsets[-1])] @ query.T
        hit = (cosines >= threshold).float()  # (sentences, query sentences)
        offsets = offsets - offsets[0]
        parts.append(Hits(segment_sum(hit, offsets), hit.sum(1), offsets))
    return Hits.join(parts)


def proportional_scores(hits: Hits, rule: RprsRule) -> Tensor:
    """The query's proportion times the document's, for every candidate: (candidates,)."""
    lengths = hits.offsets.diff().float()[:, None]
    slack = torch.zeros_like(lengths)
    if rule.k1 is not None:
        slack = rule.k1 * (1 - rule.b + rule.b * lengths / lengths.mean().clamp(min=1))  # (candidates, 1)
    query_proportion = _saturated(hits.per_query, slack).mean(1)
    counts = _saturated(hits.per_sentence[:, None], slack.repeat_interleave(hits.offsets.diff(), dim=0))
    return query_proportion * segment_mean(counts, hits.offsets)[:, 0]


def rprs_scores(query: Tensor, pool: SentencePool, rule: RprsRule, skip: int | None = None) -> Tensor:
    """The score of every candidate: (candidates,)."""
    best = nearest_cosines(query, pool, rule.hits, skip)
    return proportional_scores(find_hits(query, pool, best), rule)


def _saturated(frequency: Tensor, slack: Tensor) -> Tensor:
    """f / (f + slack), and 0 without a hit; with zero slack, 1 for any hit."""
    return frequency / (frequency + slack).clamp(min=1e-9)


def _slices(pool: SentencePool, columns: int) -> Iterator[tuple[int, int]]:
    """Runs of whole candidates whose cosines with the query fit into CELLS."""
    return groups_within(pool.offsets.diff().cpu(), CELLS // max(1, columns))


@dataclass(frozen=True, eq=False)
class RprsEncoding:
    """A document's sentences and their vectors."""

    sentences: Sentences
    vectors: Tensor  # (sentences, width)


@dataclass(frozen=True)
class RprsCollection:
    """The candidates, and their sentences as one pool."""

    encodings: tuple[RprsEncoding, ...]
    pool: SentencePool


class RprsMatcher(Encoder[RprsEncoding, RprsCollection]):
    """The share of the query with a counterpart in the candidate, times the share of the candidate in the query."""

    name = "rprs"

    def __init__(self, backbone: Backbone | None = None, rule: RprsRule | None = None) -> None:
        self.backbone, self.rule = backbone or Backbone.load(), rule or RprsRule()

    def encode(self, documents: Sequence[Document], progress: Progress | None = None) -> list[RprsEncoding]:
        """Encode the sentences of each document."""
        return [
            RprsEncoding(sentences, torch.from_numpy(vectors))
            for sentences, vectors in sentence_vectors(documents, self.backbone, progress)
        ]

    def collect(self, encodings: Sequence[RprsEncoding]) -> RprsCollection:
        """Pool the sentences of all documents."""
        return RprsCollection(tuple(encodings), SentencePool.of([e.vectors for e in encodings]))

    def score(self, query: RprsEncoding, collection: RprsCollection) -> Scores:
        """RPRS(query, candidate) for every candidate; a query in the collection is not its own candidate."""
        skip = next((n for n, encoding in enumerate(collection.encodings) if encoding is query), None)
        return np.asarray(rprs_scores(query.vectors, collection.pool, self.rule, skip).double().numpy())

    def explain(self, a: RprsEncoding, b: RprsEncoding, collection: RprsCollection | None = None) -> Match:
        """A single pair: each document is the query once, with unrelated sentences in the pool; the mean of both
        scores, relative to the documents' scores with themselves.
        """
        forward, backward = self._hits(a, b), self._hits(b, a)
        itself = self._hits(a, a), self._hits(b, b)
        total, maximum = (
            sum(float(proportional_scores(hits, self.rule)[0]) for hits in both)
            for both in ((forward, backward), itself)
        )
        vectors = a.vectors, b.vectors

        def grid(level: Level) -> Grid:
            """The mean best cosine of the sentences of every two groups, averaged over both directions."""
            x, y = (SentenceVectors(v.numpy(), np.zeros((len(v), len(SIZES)), np.float32)) for v in vectors)
            return group_grid(
                a.sentences, b.sentences, level, lambda m, t: group_scores(x, y, m.offsets, t.offsets).clip(0, 1)
            )

        return explained_match(
            (a.sentences, b.sentences),
            vectors,
            nearest_evidence(vectors, (_gains(forward, backward), _gains(backward, forward))),
            grid,
            score=float(np.clip(total / max(maximum, 1e-9), 0.0, 1.0)),
            model=self.name,
        )

    def _hits(self, query: RprsEncoding, candidate: RprsEncoding) -> Hits:
        """The hits of a query in one candidate, with the packaged background sentences in the pool."""
        background = background_of(self.backbone)  # the query's own sentences for a backbone without any
        others = query.vectors if background is None else torch.from_numpy(background.general)
        pool = SentencePool.of([candidate.vectors, others])
        best = nearest_cosines(query.vectors, pool, self.rule.hits)
        return find_hits(query.vectors, SentencePool.of([candidate.vectors]), best)


frequency_matcher = partial(RprsMatcher, rule=RprsRule(k1=1.5))


def _gains(as_query: Hits, as_candidate: Hits) -> Floats:
    """Each sentence's contribution to its document's proportions: it has a hit as query, is a hit as candidate."""
    mass = (as_query.per_query[0] > 0).double() + (as_candidate.per_sentence > 0).double()
    return np.asarray(mass / len(mass))
