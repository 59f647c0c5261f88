"""The sides of the default's score by themselves, for choosing and learning how they are weighed."""

from collections.abc import Iterator, Sequence

import numpy as np

from longmatch.default.calibration import Calibration, Scale
from longmatch.default.sides import NAMES as SIDES
from longmatch.lab.evaluation.measures.answers import Floats
from longmatch.lab.evaluation.scoring.default import DefaultScorer

QUERIES = 16  # whose sides are held at a time

Sides = dict[str, Floats]


class SideScorer(DefaultScorer):
    """Of each query the similarity with every document on all sides, whatever they weigh today."""

    sides = SIDES

    @property
    def trust(self) -> Floats:
        """How far each side is trusted in this corpus."""
        each = Calibration({name: Scale(1.0, 1.0, 0.0) for name in SIDES}, 1.0, 0.0).trusting(*self._rarity.trust)
        return np.array([each.scales[name].weight for name in SIDES])

    def each(self, numbers: Sequence[int]) -> Iterator[tuple[int, Sides]]:
        """For some documents, by their numbers: by side, the value with every document of the corpus.

        `lengths` are the documents' words.
        """
        able = [number for number in numbers if number not in self.unhandled]
        for start in range(0, len(able), QUERIES):
            block = able[start : start + QUERIES]
            queries = [self._query(number) for number in block]
            found: list[list[Sides]] = [[] for _ in block]
            for index in range(len(self._slices)):
                collection = self._collection(index)
                lengths = np.array([e.words for e in collection.encodings], dtype=np.float64)
                for query, parts in zip(queries, found, strict=True):
                    parts.append({**collection.similarities(query, SIDES), "lengths": lengths})
            for number, parts in zip(block, found, strict=True):
                yield number, {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
