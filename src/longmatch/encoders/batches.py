"""Batches cut by a budget of tokens, longest first, so that little of a batch is padding."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

MULTIPLE = 8  # tokens: for each new size of batch something is prepared and kept, so there must be few sizes


def lengths_of(pieces: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """How many tokens each piece has."""
    return np.fromiter(map(len, pieces), np.int64, len(pieces))


def padded(lengths: npt.NDArray[np.int64], most: int) -> npt.NDArray[np.int64]:
    """Lengths with padding up to a multiple of MULTIPLE, or up to `most`.

    >>> padded(np.array([3, 8, 9, 19]), most=20).tolist()
    [8, 8, 16, 20]
    """
    return np.minimum(-(-lengths // MULTIPLE) * MULTIPLE, most)


def token_batches(lengths: npt.NDArray[np.int64], budget: int) -> Iterator[npt.NDArray[np.int64]]:
    """Cut the pieces into batches of at most `budget` tokens, padding counted; a longer piece is a batch of its own.

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
