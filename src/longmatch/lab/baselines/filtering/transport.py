"""OPT-Match's selection: the sentences between which a part of two documents is carried over at the least cost.

W. Yu, L. Pang, J. Xu, B. Su, Z. Dong, J.-R. Wen: "Optimal Partial Transport Based Sentence Selection for Long-form
Document Matching", COLING 2022.

Every sentence of either document has the mass 1, so that documents may differ in length, and of all that mass only a
part is carried over: the plan P of least cost sum(P * cost) with rows and columns of at most 1 and a total of `mass`.
The sentences that take part are the ones that matter. For whole masses a best plan carries whole sentences: it is the
cheapest way to form so many pairs, and an assignment of the shorter document's sentences, with places for those that
stay out, finds it exactly. The paper learns what a sentence is together with the matching; here any similarity of
sentences serves, and nothing is learnt.
"""

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def partial_transport(cost: Floats, mass: int) -> Ints:
    """The `mass` pairs of sentences (a, b), no sentence twice, that cost least together, the cheapest first: (mass, 2).

    >>> partial_transport(np.array([[0.1, 0.2], [0.3, 0.9], [0.9, 0.8]]), mass=2).tolist()
    [[0, 1], [1, 0]]
    """
    turned = len(cost) > len(cost.T)
    short = cost.T if turned else cost
    rows, columns = short.shape
    mass = min(mass, rows)
    wide = np.full((rows, columns + rows - mass), cost.min(initial=0.0) - 1)  # places to stay out in: all get filled
    wide[:, :columns] = short
    found = np.stack(linear_sum_assignment(wide), axis=1)
    pairs = found[found[:, 1] < columns][:, :: -1 if turned else 1]
    order = np.lexsort((pairs[:, 1], pairs[:, 0], cost[pairs[:, 0], pairs[:, 1]]))
    ordered: Ints = pairs[order].astype(np.int64)
    return ordered


def carried_sentences(cost: Floats, lengths: tuple[Ints, Ints], limit: int, share: float = 0.5) -> tuple[Ints, Ints]:
    """The sentences of either document that are carried over, as far as they fit into `limit` tokens a side.

    `share` of the shorter document is carried. Pairs are taken by cost until one no longer fits on either side; one
    there always is. Numbers of sentences in reading order.
    """
    mass = max(1, round(share * min(cost.shape)))
    pairs = partial_transport(cost, mass)
    tokens = np.stack([lengths[0][pairs[:, 0]], lengths[1][pairs[:, 1]]], axis=1).cumsum(0)  # (pairs, sides)
    fitting = max(1, int((tokens <= limit).all(1).sum()))
    return np.sort(pairs[:fitting, 0]), np.sort(pairs[:fitting, 1])
