"""The sides of the default's score by themselves, for choosing and learning how they are weighed."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from longmatch.evaluation.corpus import Corpus
from longmatch.evaluation.encodings.layers import scoring_device
from longmatch.evaluation.encodings.store import Stored
from longmatch.evaluation.measures.answers import Floats
from longmatch.evaluation.scoring.default import DefaultScorer
from longmatch.matching.calibration import Calibration, Scale

QUERIES = 16  # whose sides are held at a time
TITLE = 400  # characters of a title that are read
KNOWN = ("words", "phrases", "meaning", "topic", "title", "titled", "named")  # that the default can weigh
SIDES = (*KNOWN, "told")

Sides = dict[str, Floats]


class SideScorer(DefaultScorer):
    """Of each query the similarity with every document on all sides, whatever they weigh today.

    Besides those the default knows, told: the best cosine of one of the query's sentences with a document's title.
    """

    sides = KNOWN

    def open(self, stored: Sequence[Stored], corpus: Corpus) -> None:
        """Read the titles too."""
        super().open(stored, corpus)
        vectors = self.matcher.backbone.encode_texts([title[:TITLE] or "." for title in self._titles])
        self._told = torch.as_tensor(vectors).to(scoring_device(), torch.float32)

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
                    parts.append({**collection.sides(query, KNOWN), "lengths": lengths})
            for number, query, parts in zip(block, queries, found, strict=True):
                known = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
                told = (query.side.vectors @ self._told.T).amax(0).double().cpu().numpy()
                yield number, {**known, "told": told}
