"""How well scores tell the pairs that belong together from the others."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from torch import Tensor, from_numpy
from torch.nn.functional import normalize

from longmatch.lab.training.data import PairTable
from longmatch.lab.training.samplers import Ints


def cosine_measures(
    pairs: PairTable, vectors_of: Callable[[Ints], Tensor], most: int | None = None
) -> dict[str, float]:
    """The measures of the cosines of pairs; of so many at most, the same ones whatever the seed.

    `vectors_of` gives one vector for each of some documents, each asked for once: (documents, width).
    """
    rows = looked_at(pairs, most)
    numbers, places = pairs.documents(rows)
    source, target = normalize(vectors_of(numbers), dim=1)[from_numpy(places)]
    return pair_measures((source * target).sum(1).double().numpy(), pairs.label[rows])


def looked_at(pairs: PairTable, most: int | None = None) -> Ints:
    """The rows of so many pairs at most, the same ones whatever the seed."""
    return np.sort(np.random.default_rng(0).permutation(len(pairs))[: most or len(pairs)])


def pair_measures(scores: npt.NDArray[np.float64], labels: Ints) -> dict[str, float]:
    """Average precision; and, at the score that gives the highest F1, that F1, the accuracy and the score itself.

    >>> found = pair_measures(np.array([0.9, 0.8, 0.3, 0.1]), np.array([1, 1, 0, 0]))
    >>> found["average_precision"], found["f1"], found["threshold"]
    (1.0, 1.0, 0.8)
    """
    from sklearn.metrics import average_precision_score, precision_recall_curve

    if not np.isfinite(scores).all():  # the weights are lost; the Trainer says so and stops
        return {"average_precision": float("nan")}
    precision, recall, thresholds = precision_recall_curve(labels, scores)
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-12)
    best = int(f1[:-1].argmax())  # the last point has no threshold
    said = scores >= thresholds[best]
    return {
        "average_precision": float(average_precision_score(labels, scores)),
        "f1": float(f1[best]),
        "accuracy": float((said == labels).mean()),
        "threshold": float(thresholds[best]),
    }
