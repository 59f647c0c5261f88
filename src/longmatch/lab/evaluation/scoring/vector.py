"""The rows of encoders that make one vector of a document: their own score, over stored vectors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from longmatch.lab.evaluation.code import home_of
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.encodings.vectors import DocumentVectorLayer, VectorEncoder
from longmatch.lab.evaluation.measures.answers import Floats
from longmatch.lab.evaluation.scoring.scorer import Scorer
from longmatch.lab.store.files import StoredLayer


@dataclass(frozen=True)
class Stand:
    """In place of an encoding where only its vector is needed."""

    vector: Tensor


class VectorScorer(Scorer):
    """A vector encoder over a corpus."""

    _vectors: Tensor  # of the documents that could be handled

    @property
    def encoder(self) -> VectorEncoder:
        """The matcher, as what it is."""
        return cast(VectorEncoder, self.matcher)

    @property
    def code(self) -> Sequence[str]:
        """The matcher's own folder."""
        return home_of(self.matcher)

    @property
    def layers(self) -> Sequence[DocumentVectorLayer]:
        """The vectors."""
        return (DocumentVectorLayer(self.encoder),)

    @property
    def facts(self) -> Mapping[str, Any]:
        """The matcher's kind; all else is in the vectors."""
        return {"matcher": type(self.matcher).__name__}

    def open(self, stored: Sequence[StoredLayer], corpus: Corpus) -> None:
        """Read the vectors; one that is no number is one that could not be handled."""
        found = torch.from_numpy(stored[0].array("vector"))
        able = np.array([n for n in range(len(corpus)) if n not in stored[0].unhandled], dtype=np.int64)
        finite = found.isfinite().all(1).numpy()
        self.unhandled = stored[0].unhandled | {int(n): "its vector is no number" for n in able[~finite]}
        self._count, self._able, self._vectors = len(corpus), able[finite], found[torch.from_numpy(finite)]
        self._place = {int(number): place for place, number in enumerate(self._able)}

    def score_block(self, numbers: Sequence[int]) -> list[Floats]:
        """One product a query."""
        found = []
        for number in numbers:
            scores = np.full(self._count, -np.inf)
            query = Stand(self._vectors[self._place[number]])
            scores[self._able] = self.encoder.score(query, self._vectors)
            found.append(scores)
        return found
