"""One document's sections against each other, as in CoLDE's figure 4."""

import numpy as np
import torch

from longmatch.default.collection import Rarity
from longmatch.default.encoding import Encoding
from longmatch.default.explanation import calibrated_grid, pair_scores
from longmatch.default.statistics import Statistics
from longmatch.matching.align import Evidence, alignments, merge
from longmatch.matching.levels import best_partners
from longmatch.matching.match import Level, Match


def within(encoding: Encoding, statistics: Statistics, model: str) -> Match:
    """Which sections take each other up: the grid, and the passages of different sections that answer each other.

    The score is how much of the document returns in another of its sections: the mean corrected similarity of a
    sentence with its best partner elsewhere. Passages come from chunks where a document has a single section.
    """
    sentences = encoding.sentences
    level: Level = "sections" if len(sentences.sections.labels) > 1 else "chunks"
    rarity = Rarity.of([encoding], statistics)
    groups = sentences.groups(level)
    home = torch.repeat_interleave(torch.arange(len(groups.labels)), groups.offsets.diff())
    partners, _ = best_partners(encoding.sentence_vectors, encoding.sentence_vectors, apart=(home, home))
    found = partners.cosine > -1.0
    strength = torch.where(found, partners.corrected, 0.0).clamp(min=0).double().numpy()
    index = partners.index.numpy()
    onward = index > np.arange(len(index))  # a pair found from both its ends is one pair, the earlier passage first
    forward, backward = (Evidence(index, np.where(side, strength, 0.0)) for side in (onward, ~onward))
    return Match(
        a=encoding.document,
        b=encoding.document,
        score=float(np.mean(strength)) if len(strength) else 0.0,
        sections=calibrated_grid(encoding, encoding, level, statistics, rarity),
        alignments=alignments(
            merge([forward], [backward]),
            (sentences.passage, sentences.passage),
            lambda i, j: pair_scores(encoding, encoding, i, j),
            lambda i, j: (),
        ),
        model=model,
        parts={"meaning": 1.0},
        grids=lambda chosen: calibrated_grid(encoding, encoding, chosen, statistics, rarity),
    )
