"""Similarity of topic proportions."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def topic_similarity(first: Floats, second: Floats) -> Floats:
    """1 minus the Jensen-Shannon divergence in bits: 1 for equal proportions, 0 for no topic in common.

    (n, topics) and (m, topics), with rows summing to 1 -> (n, m). A row of zeros is a text with unknown topics; its
    similarity to anything is 0.

    >>> topic_similarity(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])).round(4)
    array([[1.    , 0.6887, 0.    ],
           [0.    , 0.    , 0.    ]])
    """
    entropy, known = _entropy(second), second.sum(1) > 0
    rows = [
        1 - _entropy((row + second) / 2) + (_entropy(row[None])[0] + entropy) / 2
        if row.sum()
        else np.zeros(len(second))
        for row in first
    ]
    similarity = np.array(rows).reshape(len(first), len(second))
    return np.asarray(np.where(known, similarity, 0.0).clip(0.0, 1.0), dtype=np.float64)


def proportions(weights: Floats) -> Floats:
    """Each row divided by its sum; rows of zeros stay zero."""
    total = weights.sum(1, keepdims=True)
    return np.asarray(np.divide(weights, total, out=np.zeros_like(weights, dtype=np.float64), where=total > 0))


def _entropy(rows: Floats) -> Floats:
    """The entropy of each row, in bits."""
    logs = np.log2(rows, out=np.zeros_like(rows), where=rows > 0)
    return np.asarray(-(rows * logs).sum(1), dtype=np.float64)
