"""Products of matrices on one thread.

BLAS spreads large products over all cores. Where other work keeps a core busy, every such product waits for that core,
many times as long as it takes to compute. Pieces too small to be spread wait for nothing, and their sums are the same
with any number of cores.
"""

from typing import TypeVar

import numpy as np
import numpy.typing as npt

Real = TypeVar("Real", np.float32, np.float64)

SINGLE = 1 << 18  # multiplications up to which OpenBLAS stays on one thread


def product(left: npt.NDArray[Real], right: npt.NDArray[Real]) -> npt.NDArray[Real]:
    """left @ right, piece by piece: (rows, inner) x (inner, columns) -> (rows, columns)."""
    (rows, inner), columns = left.shape, right.shape[1]
    found = np.empty((rows, columns), dtype=left.dtype)
    width = max(1, min(columns, int((SINGLE / inner) ** 0.5)))
    height = max(1, SINGLE // (inner * width))
    for i in range(0, rows, height):
        for j in range(0, columns, width):
            np.matmul(left[i : i + height], right[:, j : j + width], out=found[i : i + height, j : j + width])
    return found
