"""How well scores tell the pairs that belong together from the others."""

import numpy as np
import numpy.typing as npt

from longmatch.training.samplers import Ints


def pair_measures(scores: npt.NDArray[np.float64], labels: Ints) -> dict[str, float]:
    """Average precision; and, at the score that gives the highest F1, that F1, the accuracy and the score itself.

    >>> found = pair_measures(np.array([0.9, 0.8, 0.3, 0.1]), np.array([1, 1, 0, 0]))
    >>> found["average_precision"], found["f1"], found["threshold"]
    (1.0, 1.0, 0.8)
    """
    from sklearn.metrics import average_precision_score, precision_recall_curve

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
