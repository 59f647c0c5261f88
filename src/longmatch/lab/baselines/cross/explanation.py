"""Explanation of a cross-encoder's score by leaving out sentences.

A sentence's contribution is the drop of the margin between the two classes when the pair is read without it, at least
0. If no sentence has a positive contribution, as in a pair that has nothing in common, contributions are measured from
the lowest one. A contribution is credited to the sentence's pair with the most similar sentence of the other document,
by the cosine of their states (mean over tokens and layers) as the backbone reads both together.

The view that gave the score is explained; with `pool=mean` all views are, and also where views form one vector: each by
itself, in proportion to its weight.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from longmatch.lab.baselines.cross.batch import Pair
from longmatch.lab.baselines.cross.scoring import PairReader, match_probabilities, uses_max
from longmatch.lab.baselines.cross.selection import Excerpt, coverage, merge_excerpts
from longmatch.lab.encoders.ragged import offsets_of, segment_mean
from longmatch.matching.align import Evidence, Floats, alignments, merge
from longmatch.matching.match import Coverage, Match
from longmatch.matching.sentence_vectors import best_cosine_grid, pair_cosines
from longmatch.matching.sentences import Sentences
from longmatch.units.pieces import pieces_from

Excerpts = Sequence[tuple[Excerpt, Excerpt]]


def explain(reader: PairReader, pair: Pair, excerpts: Excerpts, name: str) -> Match:
    """The match of two documents, from one pair of excerpts per view."""
    config, (a, b) = reader.model.config, pair
    rows = reader.layout.rows(pair, excerpts)
    view_margins = reader.margins(rows, reader.model.joined_views)
    probability = float(match_probabilities(view_margins[None], config.pool)[0])
    is_joined = reader.model.joined_views > 1
    decisive = [excerpts[int(view_margins.argmax())]] if uses_max(config.pool) and not is_joined else excerpts
    weights = reader.view_weights(rows).numpy() if is_joined else None
    mine, theirs = merge_excerpts([x for x, _ in decisive]), merge_excerpts([y for _, y in decisive])
    sentences = [Sentences.of(pieces_from(t, e.first, e.last)) for t, e in ((a, mine), (b, theirs))]
    vectors, gains = sentence_vectors(reader, pair, decisive), contributions(reader, pair, decisive, weights)
    cosines = vectors[0] @ vectors[1].T
    forward, backward = (
        Evidence(c.argmax(1).numpy(), gain) for c, gain in zip((cosines, cosines.T), gains, strict=True)
    )
    sides = (sentences[0], vectors[0]), (sentences[1], vectors[1])
    return Match(
        a=a.document,
        b=b.document,
        score=probability,
        sections=best_cosine_grid(*sides, "sections"),
        alignments=alignments(
            merge([forward], [backward]),
            (sentences[0].passage, sentences[1].passage),
            lambda i, j: pair_cosines(*vectors, i, j),
            lambda i, j: (),
        ),
        model=name,
        probability=probability,
        threshold=config.threshold,
        coverage=Coverage(coverage(a, [x for x, _ in excerpts]), coverage(b, [y for _, y in excerpts])),
        parts={"meaning": 1.0},
        grids=lambda level: best_cosine_grid(*sides, level),
    )


def contributions(
    reader: PairReader, pair: Pair, excerpts: Excerpts, weights: Floats | None = None
) -> tuple[Floats, Floats]:
    """The contributions of both documents' sentences to the margin, over all excerpts: (sentences read,) each.

    `weights` are those of the excerpts, equal by default. A sentence contributes nothing to excerpts without it.
    """
    all_margins = reader.margins([row for view in excerpts for row in reader.layout.rows(pair, _variants(*view))])
    sides = [merge_excerpts([view[side] for view in excerpts]).numbers for side in (0, 1)]
    gains = np.zeros(len(sides[0])), np.zeros(len(sides[1]))
    weights = np.full(len(excerpts), 1 / len(excerpts)) if weights is None else weights
    parts = all_margins.split([1 + len(mine) + len(theirs) for mine, theirs in excerpts])
    for view, part, weight in zip(excerpts, parts, weights.tolist(), strict=True):
        drops = np.split((part[0] - part[1:]).numpy() * weight, [len(view[0])])
        for excerpt, numbers, gain, drop in zip(view, sides, gains, drops, strict=True):
            gain[np.searchsorted(numbers, excerpt.numbers)] += drop
    return _non_negative(*gains)


def sentence_vectors(reader: PairReader, pair: Pair, excerpts: Excerpts) -> tuple[Tensor, Tensor]:
    """The mean state of each sentence that is read, of length 1: (sentences read, width) per side."""
    sides = [merge_excerpts([view[side] for view in excerpts]).numbers for side in (0, 1)]
    sums = [torch.zeros(len(numbers), reader.model.width) for numbers in sides]
    for view, row in zip(excerpts, reader.layout.rows(pair, excerpts), strict=True):
        for excerpt, numbers, total, states in zip(view, sides, sums, reader.states(row), strict=True):
            means = segment_mean(states, offsets_of(torch.from_numpy(excerpt.lengths)))
            total[torch.from_numpy(np.searchsorted(numbers, excerpt.numbers))] += means
    return normalize(sums[0], dim=1), normalize(sums[1], dim=1)


def _variants(mine: Excerpt, theirs: Excerpt) -> list[tuple[Excerpt, Excerpt]]:
    """The full excerpts, then without each sentence of the first, then of the second."""
    without_mine = [(mine.without(i), theirs) for i in range(len(mine))]
    return [(mine, theirs), *without_mine, *((mine, theirs.without(i)) for i in range(len(theirs)))]


def _non_negative(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Clip contributions at 0; if none is positive, measure them from the lowest; if all are equal, from none."""
    low, high = (pick(pick(a), pick(b)) for pick in (min, max))
    if high > 0:
        return a.clip(min=0), b.clip(min=0)
    return (a - low, b - low) if low < high else (np.ones(len(a)), np.ones(len(b)))
