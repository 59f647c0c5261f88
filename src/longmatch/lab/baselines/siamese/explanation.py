"""Explanation of a cosine as a sum over sentences.

A document's vector is the sum of its sentences' parts, so its cosine with another vector is a sum too. A sentence's
contribution is its term of that sum, at least 0, credited to its pair with the sentence of the other document whose
part has the highest cosine with it. For HAN and SMASH a part is the sentence's state times its attention weight, so the
contribution is attention restricted to what the documents share.
"""

import torch

from longmatch.lab.baselines.siamese.encoding import VectorEncoding, directions
from longmatch.lab.encoders.ragged import segment_sum
from longmatch.matching.align import Evidence, alignments, merge
from longmatch.matching.match import Coverage, Grid, Level, Match
from longmatch.matching.sentence_vectors import pair_cosines


def explain(
    a: VectorEncoding, b: VectorEncoding, name: str, probability: float | None, threshold: float | None
) -> Match:
    """The match of two documents."""
    mine, theirs = directions(a.parts), directions(b.parts)
    return Match(
        a=a.document,
        b=b.document,
        score=float((a.vector @ b.vector).clamp(0, 1)),
        sections=_grid(a, b, "sections"),
        alignments=alignments(
            merge([_gains(a, b)], [_gains(b, a)]),
            (a.sentences.passage, b.sentences.passage),
            lambda i, j: pair_cosines(mine, theirs, i, j),
            lambda i, j: (),
        ),
        model=name,
        probability=probability,
        threshold=threshold,
        coverage=Coverage(a.coverage, b.coverage),
        parts={"meaning": 1.0},
        grids=lambda level: _grid(a, b, level),
    )


def _gains(mine: VectorEncoding, theirs: VectorEncoding) -> Evidence:
    """Each sentence's contribution to the cosine, and its nearest sentence in the other document."""
    gain = (mine.parts @ theirs.vector).clamp(min=0)
    nearest = (directions(mine.parts) @ directions(theirs.parts).T).argmax(1)
    return Evidence(nearest.numpy(), gain.double().numpy())


def _grid(a: VectorEncoding, b: VectorEncoding, level: Level) -> Grid:
    """The cosine of the summed parts of every two groups of sentences, at least 0."""
    mine, theirs = a.sentences.groups(level), b.sentences.groups(level)
    rows, columns = (
        directions(segment_sum(e.parts, torch.from_numpy(groups.offsets))) for e, groups in ((a, mine), (b, theirs))
    )
    return Grid(mine.labels, theirs.labels, mine.spans, theirs.spans, (rows @ columns.T).clamp(0, 1).numpy())
