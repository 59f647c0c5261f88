"""Centred vectors (all-but-the-top, Mu and Viswanath, 2018): what isotropy alone gives an untrained backbone."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

from longmatch.ragged import Array, array_namespace, unit_rows

COMPONENTS_PER_WIDTH = 1 / 100  # principal components removed, as in the paper


@dataclass(frozen=True)
class Centring:
    """The mean of a collection's vectors and their top principal components, which are both removed."""

    mean: Array  # (width,)
    top: Array  # (components, width), orthonormal

    @staticmethod
    def of(parts: Iterable[Array]) -> "Centring":
        """Of vectors (rows, width), given in parts; labels play no role.

        >>> import numpy as np
        >>> rows = np.array([[3.0, 1.0, 0.1], [3.0, -1.0, 0.1], [3.0, 1.0, -0.1], [3.0, -1.0, -0.1]])
        >>> Centring.of([rows]).apply(rows).round(6).tolist()[0]  # neither the mean nor the widest direction is left
        [0.0, 0.0, 1.0]
        """
        sums = ((len(part), part.sum(0), part.T @ part) for part in parts)
        count, total, squares = reduce(lambda a, b: (a[0] + b[0], a[1] + b[1], a[2] + b[2]), sums)
        mean = total / count
        covariance = squares / count - mean[:, None] * mean
        vectors = array_namespace(mean).linalg.eigh(covariance)[1]  # in rising order of variance
        kept = max(1, round(len(mean) * COMPONENTS_PER_WIDTH))
        return Centring(mean, vectors[:, -kept:].T)

    def apply(self, vectors: Array) -> Array:
        """The vectors without mean and top components, of length 1 again: (rows, width)."""
        centred = vectors - self.mean
        return unit_rows(centred - (centred @ self.top.T) @ self.top)
