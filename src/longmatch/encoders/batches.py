"""Batches within a token budget, longest pieces first, so that they contain little padding."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

MULTIPLE = 8  # tokens; torch and OpenVINO cache something per batch shape, so there must be few shapes


def lengths_of(pieces: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Number of tokens in each piece."""
    return np.fromiter(map(len, pieces), np.int64, len(pieces))


def padded_lengths(lengths: npt.NDArray[np.int64], longest: int) -> npt.NDArray[np.int64]:
    """Lengths rounded up to a multiple of MULTIPLE, but to no more than `longest`.

    >>> padded_lengths(np.array([3, 8, 9, 19]), longest=20).tolist()
    [8, 8, 16, 20]
    """
    return np.minimum(-(-lengths // MULTIPLE) * MULTIPLE, longest)


def token_batches(lengths: npt.NDArray[np.int64], budget: int) -> Iterator[npt.NDArray[np.int64]]:
    """Group pieces into batches of at most `budget` tokens including padding; a longer piece gets its own batch.

    >>> [batch.tolist() for batch in token_batches(np.array([3, 9, 4, 2]), budget=8)]
    [[1], [2, 0], [3]]
    """
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        longest = max(1, int(lengths[order[start]]))
        size = max(1, budget // longest)
        yield order[start : start + size]
        start += size
