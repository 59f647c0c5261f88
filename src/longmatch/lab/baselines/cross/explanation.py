"""Why a network that reads two documents together gives a pair its score.

What a sentence carries is measured: the pair is read again without it, and by how much the margin between the two
classes falls is its contribution, at least 0. Where no sentence carries anything, as in a pair that has nothing in
common, each counts by how much more it speaks for the match than the one that speaks most against it. A contribution
is credited to the pair the sentence forms with the one most like it in the other document: by the cosine of what the
backbone makes of them, the mean over tokens and layers, while it reads them together.

The view that gave the score is explained, with `pool=mean` all of them; and all of them where they become one vector,
each by itself and in proportion to what it counts for.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from longmatch.encoders.ragged import offsets_of, segment_mean
from longmatch.lab.baselines.cross.batch import Pair
from longmatch.lab.baselines.cross.reading import Reader, chances, takes_largest
from longmatch.lab.baselines.cross.selection import Excerpt, coverage, joined
from longmatch.matching.align import Evidence, Floats, alignments, merge
from longmatch.matching.match import Coverage, Match
from longmatch.matching.sentence_vectors import best_cosine_grid, pair_cosines
from longmatch.matching.sentences import Sentences
from longmatch.units.pieces import pieces_from

Excerpts = Sequence[tuple[Excerpt, Excerpt]]


def explain(reader: Reader, pair: Pair, excerpts: Excerpts, name: str) -> Match:
    """Two documents compared, of which the excerpts are read, one view each."""
    config, (a, b) = reader.model.config, pair
    rows = reader.layout.rows(pair, excerpts)
    found = reader.margins(rows, reader.model.joined_views)
    chance = float(chances(found[None], config.pool)[0])
    is_joined = reader.model.joined_views > 1
    decisive = [excerpts[int(found.argmax())]] if takes_largest(config.pool) and not is_joined else excerpts
    shares = reader.shares(rows).numpy() if is_joined else None
    mine, theirs = joined([one for one, _ in decisive]), joined([other for _, other in decisive])
    sentences = [Sentences.of(pieces_from(t, e.first, e.last)) for t, e in ((a, mine), (b, theirs))]
    vectors, gains = sentence_vectors(reader, pair, decisive), contributions(reader, pair, decisive, shares)
    cosines = vectors[0] @ vectors[1].T
    forward, backward = (
        Evidence(c.argmax(1).numpy(), gain) for c, gain in zip((cosines, cosines.T), gains, strict=True)
    )
    sides = (sentences[0], vectors[0]), (sentences[1], vectors[1])
    return Match(
        a=a.document,
        b=b.document,
        score=chance,
        sections=best_cosine_grid(*sides, "sections"),
        alignments=alignments(
            merge([forward], [backward]),
            (sentences[0].passage, sentences[1].passage),
            lambda i, j: pair_cosines(*vectors, i, j),
            lambda i, j: (),
        ),
        model=name,
        probability=chance,
        threshold=config.threshold,
        coverage=Coverage(coverage(a, [one for one, _ in excerpts]), coverage(b, [other for _, other in excerpts])),
        parts={"meaning": 1.0},
        grids=lambda level: best_cosine_grid(*sides, level),
    )


def contributions(
    reader: Reader, pair: Pair, excerpts: Excerpts, shares: Floats | None = None
) -> tuple[Floats, Floats]:
    """What the sentences of either document carry of the margin, over all excerpts: (sentences read,) each.

    An excerpt counts for its share, by default as much as the others. A sentence that is not in an excerpt carries
    nothing there.
    """
    found = reader.margins([row for one in excerpts for row in reader.layout.rows(pair, _variants(*one))])
    sides = [joined([excerpt[side] for excerpt in excerpts]).numbers for side in (0, 1)]
    gains = np.zeros(len(sides[0])), np.zeros(len(sides[1]))
    shares = np.full(len(excerpts), 1 / len(excerpts)) if shares is None else shares
    parts = found.split([1 + len(mine) + len(theirs) for mine, theirs in excerpts])
    for excerpt, part, share in zip(excerpts, parts, shares.tolist(), strict=True):
        drops = np.split((part[0] - part[1:]).numpy() * share, [len(excerpt[0])])
        for one, numbers, gain, drop in zip(excerpt, sides, gains, drops, strict=True):
            gain[np.searchsorted(numbers, one.numbers)] += drop
    return _at_least_nothing(*gains)


def sentence_vectors(reader: Reader, pair: Pair, excerpts: Excerpts) -> tuple[Tensor, Tensor]:
    """What the backbone makes of each sentence that is read, of length 1: (sentences read, width) for either side."""
    sides = [joined([excerpt[side] for excerpt in excerpts]).numbers for side in (0, 1)]
    sums = [torch.zeros(len(numbers), reader.model.width) for numbers in sides]
    for excerpt, row in zip(excerpts, reader.layout.rows(pair, excerpts), strict=True):
        for one, numbers, total, states in zip(excerpt, sides, sums, reader.states(row), strict=True):
            means = segment_mean(states, offsets_of(torch.from_numpy(one.lengths)))
            total[torch.from_numpy(np.searchsorted(numbers, one.numbers))] += means
    return normalize(sums[0], dim=1), normalize(sums[1], dim=1)


def _variants(mine: Excerpt, theirs: Excerpt) -> list[tuple[Excerpt, Excerpt]]:
    """As it is, without each sentence of the one, without each of the other."""
    without_mine = [(mine.without(i), theirs) for i in range(len(mine))]
    return [(mine, theirs), *without_mine, *((mine, theirs.without(i)) for i in range(len(theirs)))]


def _at_least_nothing(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    low, high = (pick(pick(a), pick(b)) for pick in (min, max))
    if high > 0:
        return a.clip(min=0), b.clip(min=0)
    return (a - low, b - low) if low < high else (np.ones(len(a)), np.ones(len(b)))
