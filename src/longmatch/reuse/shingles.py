"""Runs of k words as 64-bit hashes, and which words two texts have in common in such runs."""

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Hashes = npt.NDArray[np.uint64]

_MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, so that multiplying by it loses nothing
_SHIFT = np.uint64(29)


def shingles(words: npt.NDArray[np.generic], length: int) -> Hashes:
    """The hash of every run of `length` words, given as numbers or as hashes.

    >>> a, b = shingles(np.array([1, 2, 3, 4]), 3), shingles(np.array([2, 3, 4]), 3)
    >>> len(a), bool(a[1] == b[0]), bool(a[0] == b[0])
    (2, True, False)
    """
    count = max(0, len(words) - length + 1)
    known = words.astype(np.uint64)
    mixed = np.full(count, length, dtype=np.uint64)
    for position in range(length):
        mixed = (mixed ^ known[position : position + count]) * _MIX
        mixed ^= mixed >> _SHIFT
    return mixed


def occurrence_ranks(values: npt.NDArray[np.generic]) -> Ints:
    """How many times each value has occurred before.

    >>> occurrence_ranks(np.array([7, 5, 7, 7])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if len(values) else order
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.arange(len(values)) - np.repeat(first, np.diff(np.append(first, len(values))))
    return ranks
