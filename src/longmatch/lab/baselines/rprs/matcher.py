"""RPRS as a matcher: untrained, over any backbone's sentence vectors, with all candidates' sentences as the pool."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from longmatch.default.statistics import background_of
from longmatch.documents.document import Document
from longmatch.encoders.backbone import Backbone
from longmatch.lab.baselines.rprs.score import (
    Hits,
    RprsRule,
    SentencePool,
    find_hits,
    nearest_cosines,
    proportional_scores,
    rprs_scores,
)
from longmatch.matching.align import Evidence, Floats, alignments, merge
from longmatch.matching.chance import SIZES
from longmatch.matching.levels import SentenceVectors, group_scores
from longmatch.matching.match import Grid, Level, Match
from longmatch.matching.matcher import Encoder, Progress, Scores
from longmatch.matching.sentence_vectors import pair_cosines, sentence_vectors
from longmatch.matching.sentences import Sentences


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
        return RprsCollection(tuple(encodings), SentencePool.of(e.vectors for e in encodings))

    def score(self, query: RprsEncoding, collection: RprsCollection) -> Scores:
        """RPRS(query, candidate) for every candidate; a query in the collection is not its own candidate."""
        skip = next((n for n, encoding in enumerate(collection.encodings) if encoding is query), None)
        return np.asarray(rprs_scores(query.vectors, collection.pool, self.rule, skip).double().numpy())

    def explain(self, a: RprsEncoding, b: RprsEncoding, collection: RprsCollection | None = None) -> Match:
        """A single pair: each document is the query once, with unrelated sentences in the pool; the mean of both
        scores, relative to the documents' scores with themselves.
        """
        forward, backward = self._hits(a, b), self._hits(b, a)
        total = self._score(forward) + self._score(backward)
        maximum = sum(self._score(self._hits(e, e)) for e in (a, b))
        return Match(
            a=a.sentences.document,
            b=b.sentences.document,
            score=float(np.clip(total / max(maximum, 1e-9), 0.0, 1.0)),
            sections=_grid(a, b, "sections"),
            alignments=alignments(
                merge([_evidence(a, b, forward, backward)], [_evidence(b, a, backward, forward)]),
                (a.sentences.passage, b.sentences.passage),
                lambda i, j: pair_cosines(a.vectors, b.vectors, i, j),
                lambda i, j: (),
            ),
            model=self.name,
            parts={"meaning": 1.0},
            grids=lambda level: _grid(a, b, level),
        )

    def _hits(self, query: RprsEncoding, candidate: RprsEncoding) -> Hits:
        """The hits of a query in one candidate, with other sentences in the pool."""
        pool = SentencePool.of([candidate.vectors, self._others(query)])
        return find_hits(
            query.vectors, SentencePool.of([candidate.vectors]), nearest_cosines(query.vectors, pool, self.rule.hits)
        )

    def _others(self, query: RprsEncoding) -> Tensor:
        """The packaged background sentences; the query's own sentences for a backbone without any."""
        background = background_of(self.backbone)
        return query.vectors if background is None else torch.from_numpy(background.general)

    def _score(self, hits: Hits) -> float:
        return float(proportional_scores(hits, self.rule)[0])


def frequency_matcher(backbone: Backbone | None = None) -> RprsMatcher:
    """RPRS with frequencies."""
    return RprsMatcher(backbone, RprsRule(k1=1.5))


def _evidence(mine: RprsEncoding, theirs: RprsEncoding, as_query: Hits, as_candidate: Hits) -> Evidence:
    """Each sentence's contribution to its document's proportions: it has a hit as query, is a hit as candidate."""
    mass = (as_query.per_query[0] > 0).double() + (as_candidate.per_sentence > 0).double()
    partner = (mine.vectors @ theirs.vectors.T).argmax(1)
    share: Floats = (mass / len(mass)).numpy()
    return Evidence(partner.numpy(), share)


def _grid(a: RprsEncoding, b: RprsEncoding, level: Level) -> Grid:
    """The mean best cosine of the sentences of every two groups, averaged over both directions."""
    mine, theirs = a.sentences.groups(level), b.sentences.groups(level)
    left, right = (
        SentenceVectors(e.vectors.numpy(), np.zeros((len(e.vectors), len(SIZES)), np.float32)) for e in (a, b)
    )
    scores = group_scores(left, right, mine.offsets, theirs.offsets).clip(0, 1)
    return Grid(mine.labels, theirs.labels, mine.spans, theirs.spans, scores)
