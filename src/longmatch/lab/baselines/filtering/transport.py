"""OPT-Match's selection of sentences, by partial optimal transport.

W. Yu, L. Pang, J. Xu, B. Su, Z. Dong, J.-R. Wen: "Optimal Partial Transport Based Sentence Selection for Long-form
Document Matching", COLING 2022.

Every sentence has mass 1, and only a part of the total mass is transported, so that documents may differ in length: the
plan P minimises sum(P * cost) with row and column sums of at most 1 and a total of `mass`. The sentences in the plan
are selected. For an integer mass there is an optimal plan of whole sentences: the cheapest set of `mass` pairs, which
an assignment of the shorter document's sentences with dummy columns finds exactly. The paper learns sentence
representations jointly with the matching; here any sentence similarity can be used, and nothing is learnt.
"""

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def partial_transport(cost: Floats, mass: int) -> Ints:
    """The `mass` disjoint pairs of sentences (a, b) of minimal total cost, cheapest first: (mass, 2).

    >>> partial_transport(np.array([[0.1, 0.2], [0.3, 0.9], [0.9, 0.8]]), mass=2).tolist()
    [[0, 1], [1, 0]]
    """
    transposed = len(cost) > len(cost.T)
    short = cost.T if transposed else cost
    rows, columns = short.shape
    mass = min(mass, rows)
    wide = np.full((rows, columns + rows - mass), cost.min(initial=0.0) - 1)  # dummy columns take the unmatched rows
    wide[:, :columns] = short
    assigned = np.stack(linear_sum_assignment(wide), axis=1)
    pairs = assigned[assigned[:, 1] < columns][:, :: -1 if transposed else 1]
    order = np.lexsort((pairs[:, 1], pairs[:, 0], cost[pairs[:, 0], pairs[:, 1]]))
    ordered: Ints = pairs[order].astype(np.int64)
    return ordered


def transported_sentences(
    cost: Floats, lengths: tuple[Ints, Ints], limit: int, share: float = 0.5
) -> tuple[Ints, Ints]:
    """The sentences of each document in the optimal plan, as many as fit into `limit` tokens per side.

    `share` of the shorter document is transported. Pairs are taken by cost until one does not fit; at least one is
    taken. Sentence numbers are in reading order.
    """
    mass = max(1, round(share * min(cost.shape)))
    pairs = partial_transport(cost, mass)
    tokens = np.stack([lengths[0][pairs[:, 0]], lengths[1][pairs[:, 1]]], axis=1).cumsum(0)  # (pairs, sides)
    fitting = max(1, int((tokens <= limit).all(1).sum()))
    return np.sort(pairs[:fitting, 0]), np.sort(pairs[:fitting, 1])
