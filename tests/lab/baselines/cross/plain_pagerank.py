"""The slow obvious versions of Match-Ignition's filters: PageRank of a matrix, and the words of one row."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from longmatch.lab.baselines.cross.sentence_filters import DAMPING, best_within

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def central_sentences(ranks, lengths, limit: int, most: int | None) -> list[Ints]:
    """The most central sentences of each document, given the ranks and lengths of its sentences."""
    return [best_within(*side, limit, most) for side in zip(ranks, lengths, strict=True)]


def pagerank(weights: Floats, damping: float = DAMPING, tolerance: float = 1e-10, steps: int = 200) -> Floats:
    """PageRank of a graph; the ranks sum to 1. `weights[i, j]` is the weight of the edge from i to j, at least 0.

    The walk follows edges in proportion to their weights, and jumps to a random node with probability 1 - damping or
    from a node without edges. Self-loops are ignored.

    >>> pagerank(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])).round(4)
    array([0.2568, 0.4865, 0.2568])
    """
    count = len(weights)
    edges = weights.astype(np.float64)
    np.fill_diagonal(edges, 0.0)
    total = edges.sum(1, keepdims=True)
    edges = np.divide(edges, total, out=np.full_like(edges, 1 / max(1, count)), where=total > 0)
    ranks: Floats = np.full(count, 1 / max(1, count))
    for _ in range(steps):
        updated: Floats = damping * (ranks @ edges) + (1 - damping) / max(1, count)
        if np.abs(updated - ranks).sum() < tolerance:
            return updated
        ranks = updated
    return ranks


def central_words(attention: Floats, kept: float = 0.9, fixed: Sequence[int] = (0,), damping: float = DAMPING) -> Ints:
    """The words passed on to the next layer: the most central share `kept`, rounded up, in reading order.

    `attention` is that of one layer, (heads, words, words), with rows summing to 1; the mean over the heads is the
    graph. The words `fixed` (special tokens) are always kept and not counted.
    """
    ranks = pagerank(attention.mean(0), damping)
    free = np.setdiff1d(np.arange(len(ranks)), fixed)
    count = int(np.ceil(kept * len(free) - 1e-6))
    best = free[np.argsort(-ranks[free].round(9), kind="stable")[:count]]
    return np.sort(np.concatenate([np.asarray(fixed, dtype=np.int64), best]))
