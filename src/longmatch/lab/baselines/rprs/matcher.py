"""RPRS as a matcher: no training, any backbone's sentence vectors, and the sentences of all candidates as the pool."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from longmatch.default.statistics import background_of
from longmatch.documents.document import Document
from longmatch.encoders.backbone import Backbone
from longmatch.lab.baselines.rprs.score import Hits, Pool, Rule, find_hits, nearest, proportional_scores, rprs_scores
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
    pool: Pool


class RprsMatcher(Encoder[RprsEncoding, RprsCollection]):
    """The product of how much of the query a candidate answers and how much of the candidate the query asks for."""

    name = "rprs"

    def __init__(self, backbone: Backbone | None = None, rule: Rule | None = None) -> None:
        self.backbone, self.rule = backbone or Backbone.load(), rule or Rule()

    def encode(self, documents: Sequence[Document], progress: Progress | None = None) -> list[RprsEncoding]:
        """Encode the sentences of each document."""
        return [RprsEncoding(*found) for found in sentence_vectors(documents, self.backbone, progress)]

    def collect(self, encodings: Sequence[RprsEncoding]) -> RprsCollection:
        """The pool."""
        return RprsCollection(tuple(encodings), Pool.of(e.vectors for e in encodings))

    def score(self, query: RprsEncoding, collection: RprsCollection) -> Scores:
        """RPRS(query, candidate) for every candidate; a query that is itself collected is no hit of its own."""
        own = next((n for n, encoding in enumerate(collection.encodings) if encoding is query), None)
        return np.asarray(rprs_scores(query.vectors, collection.pool, self.rule, own).double().numpy())

    def explain(self, a: RprsEncoding, b: RprsEncoding, collection: RprsCollection | None = None) -> Match:
        """A lone pair: each document asks the other, among unrelated sentences; the mean of both, as a share of what
        the documents score with themselves.
        """
        there, back = self._ask(a, b), self._ask(b, a)
        found = self._score(there) + self._score(back)
        own = sum(self._score(self._ask(e, e)) for e in (a, b))
        return Match(
            a=a.sentences.document,
            b=b.sentences.document,
            score=float(np.clip(found / max(own, 1e-9), 0.0, 1.0)),
            sections=_grid(a, b, "sections"),
            alignments=alignments(
                merge([_evidence(a, b, there, back)], [_evidence(b, a, back, there)]),
                (a.sentences.passage, b.sentences.passage),
                lambda i, j: pair_cosines(a.vectors, b.vectors, i, j),
                lambda i, j: (),
            ),
            model=self.name,
            parts={"meaning": 1.0},
            grids=lambda level: _grid(a, b, level),
        )

    def _ask(self, query: RprsEncoding, candidate: RprsEncoding) -> Hits:
        """The hits of a query in one candidate, among other sentences."""
        pool = Pool.of([candidate.vectors, self._others(query)])
        return find_hits(query.vectors, Pool.of([candidate.vectors]), nearest(query.vectors, pool, self.rule.hits))

    def _others(self, query: RprsEncoding) -> Tensor:
        """The shipped unrelated sentences; of another backbone there are none, so it is the query's own."""
        known = background_of(self.backbone)
        return query.vectors if known is None else known.vectors

    def _score(self, hits: Hits) -> float:
        return float(proportional_scores(hits, self.rule)[0])


def frequency_matcher(backbone: Backbone | None = None) -> RprsMatcher:
    """RPRS with frequencies."""
    return RprsMatcher(backbone, Rule(k1=1.5))


def _evidence(mine: RprsEncoding, theirs: RprsEncoding, asking: Hits, asked: Hits) -> Evidence:
    """What each sentence adds to the two proportions of its document: found when it asks, a hit when it is asked."""
    mass = (asking.asked[0] > 0).double() + (asked.answers > 0).double()
    partner = (mine.vectors @ theirs.vectors.T).argmax(1)
    share: Floats = (mass / len(mass)).numpy()
    return Evidence(partner.numpy(), share)


def _grid(a: RprsEncoding, b: RprsEncoding, level: Level) -> Grid:
    """The mean over sentences of their best cosine, group by group, both directions averaged."""
    mine, theirs = a.sentences.groups(level), b.sentences.groups(level)
    left, right = (SentenceVectors(e.vectors, torch.zeros(len(e.vectors), len(SIZES))) for e in (a, b))
    scores = group_scores(left, right, mine.offsets, theirs.offsets).clamp(0, 1).numpy()
    return Grid(mine.labels, theirs.labels, mine.spans, theirs.spans, scores)
