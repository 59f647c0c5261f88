"""Match-Ignition's filters: only the sentences and words that are central to both documents are kept.

L. Pang, Y. Lan, X. Cheng: "Match-Ignition: Plugging PageRank into Transformer for Long-form Text Matching", CIKM 2021.

Sentences: those of both documents form one graph, weighted by the words they share (TextRank's similarity); the
sentences with the highest PageRank are read. Words: in every layer of the transformer, attention is a graph over the
words, and the share with the lowest PageRank is dropped. Both are functions of a matrix here; word_filter.py filters
the words of whole batches between the layers of a network.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Sides = tuple[Ints, Ints]

DAMPING = 0.85


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


def joint_pagerank(
    within: tuple[csr_array, csr_array],
    between: csr_array,
    damping: float = DAMPING,
    tolerance: float = 1e-10,
    steps: int = 200,
) -> tuple[Floats, Floats]:
    """PageRank of an undirected graph in two parts: the ranks of each part.

    `within` holds the weights inside each part, without self-loops, and `between` those from the first part's nodes to
    the second's. The matrices are sparse.
    """
    (first, second), back = within, between.T.tocsr()
    total = np.concatenate([first.sum(1) + between.sum(1), second.sum(1) + back.sum(1)])
    count, middle = len(total), first.shape[0]
    scale = np.divide(damping, total, out=np.zeros(count), where=total > 0)
    dangling = total <= 0
    ranks: Floats = np.full(count, 1 / max(1, count))
    for _ in range(steps):
        a, b = np.split(ranks * scale, [middle])
        updated: Floats = np.concatenate([first @ a + between @ b, back @ a + second @ b])
        updated += (damping * ranks[dangling].sum() + 1 - damping) / max(1, count)
        done = np.abs(updated - ranks).sum() < tolerance
        ranks = updated
        if done:
            break
    return ranks[:middle], ranks[middle:]


def central_sentences(ranks: tuple[Floats, Floats], lengths: tuple[Ints, Ints], limit: int, most: int | None) -> Sides:
    """The most central sentences of each document, as many as fit into `limit` tokens per side, in reading order.

    `ranks` and `lengths` (in tokens) are those of each document's sentences. The paper takes a fixed number per side:
    `most`.
    """
    mine, theirs = (best_within(*side, limit, most) for side in zip(ranks, lengths, strict=True))
    return mine, theirs


def best_within(values: Floats, lengths: Ints, limit: int, most: int | None = None) -> Ints:
    """The sentences with the highest values, until the next one does not fit; at least one; in ascending order.

    Ties go to the earlier sentence.

    >>> best_within(np.array([0.1, 0.4, 0.2, 0.3]), np.array([5, 5, 5, 5]), limit=12).tolist()
    [1, 3]
    """
    order = np.argsort(-values.round(9), kind="stable")[:most]
    fitting = int((lengths[order].cumsum() <= limit).sum())
    return np.sort(order[: max(1, fitting)]).astype(np.int64)


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
