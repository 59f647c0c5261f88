"""Measures on validation pairs: how well scores separate matches from non-matches."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from torch import Tensor, from_numpy
from torch.nn.functional import normalize

from longmatch.lab.training.data import PairTable
from longmatch.units.tokens import Ints


def cosine_measures(
    pairs: PairTable, vectors_of: Callable[[Ints], Tensor], limit: int | None = None
) -> dict[str, float]:
    """The measures of the pairs' cosines, over at most `limit` pairs (the same ones whatever the seed).

    `vectors_of` maps distinct document numbers to one vector each: (documents, width).
    """
    rows = validation_rows(pairs, limit)
    numbers, places = pairs.documents(rows)
    source, target = normalize(vectors_of(numbers), dim=1)[from_numpy(places)]
    return pair_measures((source * target).sum(1).double().numpy(), pairs.label[rows])


def validation_rows(pairs: PairTable, limit: int | None = None) -> Ints:
    """The rows of at most `limit` pairs, the same ones whatever the seed."""
    return np.sort(np.random.default_rng(0).permutation(len(pairs))[: limit or len(pairs)])


def pair_measures(scores: npt.NDArray[np.float64], labels: Ints) -> dict[str, float]:
    """Average precision, the highest F1, and the accuracy and threshold at that F1.

    The threshold is halfway to the next lower score; the highest of several that are as good.

    >>> measures = pair_measures(np.array([0.9, 0.8, 0.3, 0.1]), np.array([1, 1, 0, 0]))
    >>> measures["average_precision"], measures["f1"], measures["threshold"]
    (1.0, 1.0, 0.55)
    """
    from sklearn.metrics import average_precision_score

    if not np.isfinite(scores).all():  # training has diverged; the Trainer stops with an error
        return {"average_precision": float("nan")}
    values, place = np.unique(-scores, return_inverse=True)  # from the highest score
    matches, predicted = (np.cumsum(np.bincount(place, weights)) for weights in (labels, None))
    f1 = 2 * matches / (predicted + labels.sum())
    best = int(f1.argmax())
    lowest, next_lower = -values[best], -values[min(best + 1, len(values) - 1)]
    middle = (lowest + next_lower) / 2
    threshold = middle if middle > next_lower else lowest
    return {
        "average_precision": float(average_precision_score(labels, scores)),
        "f1": float(f1[best]),
        "accuracy": float(((scores >= threshold) == labels).mean()),
        "threshold": float(threshold),
    }
