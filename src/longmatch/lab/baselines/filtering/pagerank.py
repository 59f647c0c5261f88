"""Match-Ignition's filters: of two documents, the sentences and the words that are central to both stay.

L. Pang, Y. Lan, X. Cheng: "Match-Ignition: Plugging PageRank into Transformer for Long-form Text Matching", CIKM 2021.

Sentences: those of both documents form one graph, weighted by the words two of them share (TextRank's similarity);
PageRank tells how central each is, and the most central of either document are read. Words: in every layer of the
transformer that reads them, attention is a graph of the words, PageRank runs over its weights, and the least central
share of them goes no further. Both are functions of a matrix here; word_filter.py drops words of many rows at once
between the layers of a network.
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
    """How central each node is; all sum to 1. `weights[i, j]` is the weight of the way from i to j, at least 0.

    A node is left along its ways in proportion to their weights, from one without any to all alike; with the chance
    1 - damping it is left for any node. What a node weighs with itself does not count.

    >>> pagerank(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])).round(4)
    array([0.2568, 0.4865, 0.2568])
    """
    count = len(weights)
    ways = weights.astype(np.float64)
    np.fill_diagonal(ways, 0.0)
    leaving = ways.sum(1, keepdims=True)
    ways = np.divide(ways, leaving, out=np.full_like(ways, 1 / max(1, count)), where=leaving > 0)
    ranks: Floats = np.full(count, 1 / max(1, count))
    for _ in range(steps):
        found: Floats = damping * (ranks @ ways) + (1 - damping) / max(1, count)
        if np.abs(found - ranks).sum() < tolerance:
            return found
        ranks = found
    return ranks


def joint_pagerank(
    own: tuple[csr_array, csr_array],
    between: csr_array,
    damping: float = DAMPING,
    tolerance: float = 1e-10,
    steps: int = 200,
) -> tuple[Floats, Floats]:
    """PageRank of a graph in two parts whose weights are the same both ways; the ranks of either part.

    `own` are the weights within each part, without those of a node with itself, and `between` those of the first
    part's nodes with the second's. Most of them are 0, and only the others are gone along.
    """
    (first, second), back = own, between.T.tocsr()
    leaving = np.concatenate([first.sum(1) + between.sum(1), second.sum(1) + back.sum(1)])
    count, middle = len(leaving), first.shape[0]
    scale = np.divide(damping, leaving, out=np.zeros(count), where=leaving > 0)
    stuck = leaving <= 0
    ranks: Floats = np.full(count, 1 / max(1, count))
    for _ in range(steps):
        a, b = np.split(ranks * scale, [middle])
        found: Floats = np.concatenate([first @ a + between @ b, back @ a + second @ b])
        found += (damping * ranks[stuck].sum() + 1 - damping) / max(1, count)
        done = np.abs(found - ranks).sum() < tolerance
        ranks = found
        if done:
            break
    return ranks[:middle], ranks[middle:]


def central_sentences(ranks: tuple[Floats, Floats], lengths: tuple[Ints, Ints], limit: int, most: int | None) -> Sides:
    """The most central sentences of either document, as many as fit into `limit` tokens a side, in reading order.

    `ranks` tell how central those of either document are, and `lengths` their tokens. The paper takes a fixed number
    of sentences a side: `most`.
    """
    mine, theirs = (best_within(*side, limit, most) for side in zip(ranks, lengths, strict=True))
    return mine, theirs


def best_within(values: Floats, lengths: Ints, limit: int, most: int | None = None) -> Ints:
    """The sentences of the highest values, one after another until the next does not fit; at least one; rising numbers.

    Of equal values the earlier sentence comes first.

    >>> best_within(np.array([0.1, 0.4, 0.2, 0.3]), np.array([5, 5, 5, 5]), limit=12).tolist()
    [1, 3]
    """
    order = np.argsort(-values.round(9), kind="stable")[:most]
    fitting = int((lengths[order].cumsum() <= limit).sum())
    return np.sort(order[: max(1, fitting)]).astype(np.int64)


def central_words(attention: Floats, kept: float = 0.9, fixed: Sequence[int] = (0,), damping: float = DAMPING) -> Ints:
    """The words that go on to the next layer: the most central `kept` of them, rounded up, in reading order.

    `attention` is one layer's, (heads, words, words): how much word i attends to word j, the rows summing to 1. The
    mean over the heads is the graph. The words `fixed`, special tokens, always stay and are not counted.
    """
    ranks = pagerank(attention.mean(0), damping)
    free = np.setdiff1d(np.arange(len(ranks)), fixed)
    count = int(np.ceil(kept * len(free) - 1e-6))
    best = free[np.argsort(-ranks[free].round(9), kind="stable")[:count]]
    return np.sort(np.concatenate([np.asarray(fixed, dtype=np.int64), best]))
