"""Encoders with one vector per document: their own score, over stored vectors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import Tensor

from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.encodings.vectors import DocumentVectorLayer, VectorEncoder
from longmatch.lab.evaluation.measures import Floats
from longmatch.lab.evaluation.scoring.scorer import Scorer
from longmatch.lab.store.files import StoredLayer
from longmatch.matching.matcher import Matcher


@dataclass(frozen=True)
class VectorOnly:
    """Placeholder for an encoding of which only the vector is needed."""

    vector: Tensor


class VectorScorer(Scorer):
    """A vector encoder over a corpus."""

    _vectors: Tensor  # of the documents that could be handled

    def __init__(self, matcher: VectorEncoder) -> None:
        super().__init__(cast(Matcher, matcher))
        self.encoder, self.layers = matcher, (DocumentVectorLayer(matcher),)
        self.facts = {"matcher": type(matcher).__name__}  # everything else is in the vectors

    def open(self, stored: Sequence[StoredLayer], corpus: Corpus) -> None:
        """Read the vectors; a document whose vector is not finite counts as unhandled."""
        vectors = torch.from_numpy(stored[0].array("vector"))
        handled = np.array([n for n in range(len(corpus)) if n not in stored[0].unhandled], dtype=np.int64)
        finite = vectors.isfinite().all(1).numpy()
        self.unhandled = stored[0].unhandled | {int(n): "its vector is not finite" for n in handled[~finite]}
        self._count, self._handled, self._vectors = len(corpus), handled[finite], vectors[torch.from_numpy(finite)]
        self._place = {int(number): place for place, number in enumerate(self._handled)}

    def score_block(self, numbers: Sequence[int]) -> list[Floats]:
        """One product per query."""
        block = []
        for number in numbers:
            scores = np.full(self._count, -np.inf)
            query = VectorOnly(self._vectors[self._place[number]])
            scores[self._handled] = self.encoder.score(query, self._vectors)
            block.append(scores)
        return block
