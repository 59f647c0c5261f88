"""RPRS with the whole corpus as pool, slice by slice, without the query itself."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor

from longmatch.lab.baselines.rprs.matcher import (
    Hits,
    RprsMatcher,
    SentencePool,
    find_hits,
    nearest_cosines,
    proportional_scores,
    top_cosines,
)
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.encodings.layers import SentenceVectorLayer, scoring_device
from longmatch.lab.evaluation.measures import Floats
from longmatch.lab.evaluation.scoring.scorer import Scorer
from longmatch.lab.evaluation.scoring.slices import Slice, slices_of
from longmatch.lab.store.files import StoredLayer


class RprsScorer(Scorer):
    """Two passes over the slices: how near a hit must be, then which documents are hit."""

    matcher: RprsMatcher
    _stored: StoredLayer
    _slices: list[Slice]

    @property
    def layers(self) -> Sequence[SentenceVectorLayer]:
        """The sentence vectors."""
        return (SentenceVectorLayer(self.matcher.backbone),)

    @property
    def facts(self) -> Mapping[str, Any]:
        """The rule."""
        return asdict(self.matcher.rule)

    def open(self, stored: Sequence[StoredLayer], corpus: Corpus) -> None:
        """Nothing is read yet."""
        self.unhandled = stored[0].unhandled
        self._stored, self._slices = stored[0], slices_of(stored[0])
        self._loaded: SentencePool | None = None

    def score_block(self, numbers: Sequence[int]) -> list[Floats]:
        """Each slice is read twice for all queries of the block."""
        queries = [self._query(number) for number in numbers]
        best: list[list[Tensor]] = [[] for _ in numbers]
        for part in self._slices:
            pool = self._pool(part)
            for number, query, cosines in zip(numbers, queries, best, strict=True):
                own = number - part.first if part.first <= number < part.last else None
                cosines.append(nearest_cosines(query, pool, self.matcher.rule.hits, own))
        nearby = [top_cosines(cosines, self.matcher.rule.hits) for cosines in best]
        hits: list[list[Hits]] = [[] for _ in numbers]
        for part in self._slices:
            pool = self._pool(part)
            for query, near, parts in zip(queries, nearby, hits, strict=True):
                parts.append(find_hits(query, pool, near))
        return [proportional_scores(Hits.join(parts), self.matcher.rule).double().cpu().numpy() for parts in hits]

    def _query(self, number: int) -> Tensor:
        vectors = torch.from_numpy(self._stored.document(number, "vectors")["vectors"])
        return vectors.to(scoring_device(), torch.float32)

    def _pool(self, part: Slice) -> SentencePool:
        """A slice in the form the score takes; a single slice stays loaded."""
        if self._loaded is not None:
            return self._loaded
        pool = SentencePool(part.vectors(), part.offsets())
        if len(self._slices) == 1:
            self._loaded = pool
        return pool
