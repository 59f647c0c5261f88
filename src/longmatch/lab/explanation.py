"""How the laboratory's models explain a score: by what each piece of a document contributes, in levels.

Where a score is no sum over pieces, contributions are measured by leaving pieces out.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from longmatch.matching.align import Evidence, Floats, Ints, alignments, merge
from longmatch.matching.match import Grid, Level, Match
from longmatch.matching.sentence_vectors import pair_cosines
from longmatch.matching.sentences import Groups, Sentences
from longmatch.ragged import AnyArray, Array, segment_max, segment_mean

MOST_RUNS = 128  # pieces left out one at a time; in longer documents runs of neighbouring pieces


def explained_match(
    pieces: tuple[Sentences, Sentences],
    vectors: tuple[AnyArray, AnyArray],
    evidence: tuple[Evidence, Evidence],
    grid: Callable[[Level], Grid],
    *,
    words: Callable[[int, int], tuple[str, ...]] = lambda i, j: (),
    part: str = "meaning",
    **facts: Any,
) -> Match:
    """The match of two documents: the evidence of their pieces (`vectors` have length 1), and a grid for each level.

    `words` gives the words that two pieces share; `facts` are the other fields of the match.
    """
    a, b = pieces
    pairs = merge(evidence[:1], evidence[1:])
    return Match(
        a=a.document,
        b=b.document,
        sections=grid("sections"),
        alignments=alignments(
            pairs,
            (a, b),
            lambda i, j: pair_cosines(*vectors, i, j),
            lambda best: [words(i, j) for i, j in zip(pairs.a[best].tolist(), pairs.b[best].tolist(), strict=True)],
        ),
        parts={part: 1.0},
        grids=grid,
        **facts,
    )


def nearest_evidence(vectors: tuple[AnyArray, AnyArray], gains: tuple[Floats, Floats]) -> tuple[Evidence, Evidence]:
    """What each piece of both documents contributes, credited to the most similar piece of the other document."""
    a, b = vectors
    return Evidence(np.asarray((a @ b.T).argmax(1)), gains[0]), Evidence(np.asarray((b @ a.T).argmax(1)), gains[1])


def group_grid(a: Sentences, b: Sentences, level: Level, scores: Callable[[Groups, Groups], AnyArray]) -> Grid:
    """The scores of every two groups of a level, such as sections: (groups of a, groups of b)."""
    mine, theirs = a.groups(level), b.groups(level)
    return Grid(mine.labels, theirs.labels, mine.spans, theirs.spans, np.asarray(scores(mine, theirs)))


def best_cosine_grid(a: tuple[Sentences, AnyArray], b: tuple[Sentences, AnyArray], level: Level) -> Grid:
    """Of sentences or other pieces, each with a vector of length 1, the cosine of every two.

    Of sections the mean, over the pieces of both, of the best cosine that each finds in the other section. A piece is
    of the section in which it begins.
    """
    cosines: Array = (np.asarray(a[1]) @ np.asarray(b[1]).T).clip(0, 1)  # (pieces, pieces)
    if level != "sections":
        mine, theirs = a[0].singles, b[0].singles
        return Grid(mine.labels, theirs.labels, mine.spans, theirs.spans, cosines)
    mine, theirs = a[0].sections, b[0].sections
    forward = segment_mean(segment_max(cosines.T, theirs.offsets).T, mine.offsets)  # (sections a, sections b)
    backward = segment_mean(segment_max(cosines, mine.offsets).T, theirs.offsets)  # (sections b, sections a)
    counts = np.diff(mine.offsets)[:, None], np.diff(theirs.offsets)
    scores = (forward * counts[0] + backward.T * counts[1]) / (counts[0] + counts[1])
    return Grid(mine.labels, theirs.labels, mine.spans, theirs.spans, np.asarray(scores, dtype=np.float32))


def ablation_contributions(
    vector: Tensor, other: Tensor, pieces: int, subset_vectors: Callable[[Sequence[Ints]], Tensor]
) -> Floats:
    """How much each piece of a document contributes to its cosine with another, at least 0: (pieces,).

    The mean of the two ends of the Shapley value: the cosine lost without the piece, and the cosine of the piece alone.
    Pieces left out together share their contribution. `vector` and `other` are the unit vectors of both documents
    (width,); `subset_vectors` recomputes the first from subsets of its pieces: (subsets, width).
    """
    everything = np.arange(pieces)
    runs = np.array_split(everything, min(pieces, MOST_RUNS))
    sizes = [len(run) for run in runs]
    without = subset_vectors([np.delete(everything, run) for run in runs]) @ other
    alone = subset_vectors(runs) @ other
    gains = ((vector @ other - without) + alone).clamp(min=0).double().numpy() / 2
    return np.repeat(gains / sizes, sizes)


@torch.no_grad()
def vectors_of_subsets(
    subsets: Sequence[Ints], width: int, most: int, encode: Callable[[Tensor, Tensor], Tensor]
) -> Tensor:
    """A vector for each subset of pieces, 0 for an empty one: (subsets, width).

    `encode` takes the pieces of some subsets, at most about `most`, and the number of pieces of each subset.
    """
    result = torch.zeros(len(subsets), width)
    filled = [number for number, subset in enumerate(subsets) if len(subset)]
    size = max(1, most // max([1, *(len(subset) for subset in subsets)]))
    for start in range(0, len(filled), size):
        numbers = filled[start : start + size]
        rows = torch.from_numpy(np.concatenate([subsets[number] for number in numbers]))
        result[numbers] = encode(rows, torch.tensor([len(subsets[number]) for number in numbers])).float().cpu()
    return result
