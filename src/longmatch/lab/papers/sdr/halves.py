"""Validation without labels: the two halves of a document should find each other among those of other documents."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from longmatch.lab.encoders.flat import FlatTokens
from longmatch.lab.encoders.ragged import offsets_of, to_device
from longmatch.lab.papers.sdr.pairs import SentencePool
from longmatch.matching.sentences import run_offsets
from longmatch.models.sdr.score import Paragraphs, sdr_scores, split
from longmatch.units.tokens import Ints

SENTENCES = 16  # read of each half


@dataclass(frozen=True)
class DocumentHalves:
    """The openings of both halves of some documents, as SDR scores them."""

    text: FlatTokens  # the sentences of every first half, then those of every second half
    units: tuple[Tensor, Tensor]  # of the first and of the second halves: offsets of units into their sentences
    documents: tuple[Tensor, Tensor]  # offsets of documents into the units
    queries: Tensor  # the documents whose halves are looked for

    @staticmethod
    def of(pool: SentencePool, queries: Ints, specials: tuple[int, int]) -> "DocumentHalves":
        """The halves of the pool's documents of two sentences or more; `queries` are numbers of documents."""
        runs = [(a, b) for a, b in pairwise(pool.document_offsets.tolist()) if b - a > 1]
        middles = [(a + b) // 2 for a, b in runs]
        sides = [
            [np.arange(start, min(start + SENTENCES, end)) for start, end in zip(starts, ends, strict=True)]
            for starts, ends in (([a for a, _ in runs], middles), (middles, [b for _, b in runs]))
        ]
        rows = [row for side in sides for half in side for row in half.tolist()]
        unit = np.searchsorted(pool.unit_offsets, np.arange(len(pool)), side="right")
        counts, units = [], []
        for side in sides:
            counts.append(offsets_of(torch.tensor([len(np.unique(unit[half])) for half in side])))
            units.append(torch.from_numpy(run_offsets(unit[np.concatenate(side)])))
        return DocumentHalves(
            FlatTokens.of([pool.ids(row) for row in rows], specials),
            (units[0], units[1]),
            (counts[0], counts[1]),
            torch.from_numpy(np.flatnonzero(np.isin(pool.document[[a for a, _ in runs]], queries))),
        )

    def mean_reciprocal_rank(self, vectors: Tensor) -> float:
        """Of each query's other half, in both directions, from the vectors of all sentences (sentences, width).

        In float32 whatever the precision around it, because half precision ties close scores.
        """
        with torch.autocast(vectors.device.type, enabled=False):
            vectors = nn.functional.normalize(vectors.float(), dim=1)
            parts = vectors.split([int(units[-1]) for units in self.units])
            sides = [
                Paragraphs(part, to_device(units, part.device), to_device(documents, part.device))
                for part, units, documents in zip(parts, self.units, self.documents, strict=True)
            ]
            ranks = []
            for mine, theirs in (sides, sides[::-1]):
                sources = list(split(mine))
                for number in self.queries.tolist():
                    scores = sdr_scores(sources[number], theirs)
                    ranks.append((scores >= scores[number]).sum())
            return float((1 / torch.stack(ranks).double()).mean())
