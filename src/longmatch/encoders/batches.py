"""Batches within a token budget, longest pieces first, so that they contain little padding."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

MULTIPLE = 4  # tokens; torch and OpenVINO cache something per batch shape, so there must be few shapes
SIMILAR = 0.9  # of the longest piece of a batch


def lengths_of(pieces: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Number of tokens in each piece."""
    return np.fromiter(map(len, pieces), np.int64, len(pieces))


def padded_lengths(lengths: npt.NDArray[np.int64], longest: int) -> npt.NDArray[np.int64]:
    """Lengths rounded up to a multiple of MULTIPLE, but to no more than `longest`.

    >>> padded_lengths(np.array([3, 8, 9, 19]), longest=18).tolist()
    [4, 8, 12, 18]
    """
    return np.minimum(-(-lengths // MULTIPLE) * MULTIPLE, longest)


def token_batches(
    lengths: npt.NDArray[np.int64], budget: int, least: int | None = None
) -> Iterator[npt.NDArray[np.int64]]:
    """Group pieces into batches of at most `budget` tokens including padding; a longer piece gets its own batch.

    With `least`, a batch of so many tokens ends where pieces are shorter than SIMILAR of its longest: a few documents
    have pieces of all lengths and not many of each, and padding would cost more than another batch.

    >>> [batch.tolist() for batch in token_batches(np.array([3, 9, 4, 2]), budget=8)]
    [[1], [2, 0], [3]]
    >>> [batch.tolist() for batch in token_batches(np.array([9, 9, 2, 2]), budget=99, least=16)]
    [[0, 1], [2, 3]]
    """
    order = np.argsort(-lengths, kind="stable")
    falling = -lengths[order]
    start = 0
    while start < len(order):
        longest = max(1, int(-falling[start]))
        end = start + max(1, budget // longest)
        if least is not None:
            similar = int(np.searchsorted(falling, -SIMILAR * longest, side="right"))
            end = min(end, max(similar, start - (-least // longest)))
        yield order[start:end]
        start = end
