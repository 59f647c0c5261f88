"""All pairs of sets that overlap enough, without comparing all with all.

The members of a set are sorted from rare to common, the sets from small to large. Two sets of Jaccard similarity above
t, |y| <= |x|, share one of the first |x| - ceil(t |x|) + 1 members of x and of the first |y| - ceil(2t/(1+t) |y|) + 1
of y (prefix filtering: Chaudhuri et al. 2006, Bayardo et al. 2007). So only those are looked up and kept in an inverted
index, where the rare members have short lists. A pair is passed over where the sizes (|y| <= t |x|), or what the two
sets have left from the first shared member on, leave too little room. What remains is counted exactly.
"""

from array import array
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

Members = npt.NDArray[np.integer[Any]]

BITS = 24  # of a posting, for how many members of the set are left; the set's number stands before them
MASK = (1 << BITS) - 1


def jaccard(first: Members, second: Members) -> float:
    """Shared members over all members of two sorted arrays without repeats.

    >>> jaccard(np.array([1, 2, 3]), np.array([2, 3, 4]))
    0.5
    """
    shared = len(np.intersect1d(first, second, assume_unique=True))
    together = len(first) + len(second) - shared
    return shared / together if together else 0.0


def similar_pairs(sets: Sequence[Members], threshold: float) -> Iterator[tuple[int, int, float]]:
    """Pairs (i, j), i < j, with Jaccard similarity above the threshold, and the value.

    A set is an array of whole numbers from 0 up, none twice, none much larger than there are numbers.

    >>> sets = [np.array(s) for s in ([1, 2, 3], [2, 3, 4], [1, 2, 3, 4], [9])]
    >>> sorted(similar_pairs(sets, 0.5))
    [(0, 2, 0.75), (1, 2, 0.75)]
    """
    if not 0 < threshold < 1:
        raise ValueError("the threshold lies between 0 and 1")
    flat, starts = _rare_first(sets)
    sizes = np.diff(starts).tolist()
    share = threshold / (1 + threshold)  # two sets share more than this part of their members taken together
    index: dict[int, array[int]] = {}  # member to postings
    for one in np.argsort(sizes, kind="stable").tolist():
        members, size = flat[starts[one] : starts[one + 1]].tolist(), sizes[one]
        smallest = threshold * size
        met: set[int] = set()
        for at, member in enumerate(members[: _prefix(size, threshold)]):
            for posting in index.get(member, ()):
                other, left = posting >> BITS, posting & MASK
                length = sizes[other]
                if length > smallest and min(size - at, left) > share * (size + length) - 1e-9:
                    met.add(other)
        held = set(members) if met else set()
        for other in sorted(met):
            shared = len(held.intersection(flat[starts[other] : starts[other + 1]].tolist()))
            value = shared / (size + sizes[other] - shared)
            if value > threshold:
                yield min(one, other), max(one, other), value
        for at, member in enumerate(members[: _prefix(size, 2 * share)]):
            index.setdefault(member, array("q")).append(one << BITS | size - at)


def _prefix(size: int, part: float) -> int:
    """How many members from the front hold at least one of any `part` of them."""
    return size - ceil(part * size - 1e-9) + 1


def _rare_first(sets: Sequence[Members]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """The sets one after the other, a smaller number now a rarer member, each sorted; and where each starts."""
    starts = np.concatenate([[0], np.cumsum([len(members) for members in sets], dtype=np.int64)])
    flat = np.concatenate([np.zeros(0, dtype=np.int32), *sets]).astype(np.int32)
    counts = np.bincount(flat)
    rank = np.empty(len(counts), dtype=np.int32)
    rank[np.argsort(counts, kind="stable")] = np.arange(len(counts), dtype=np.int32)
    flat = rank[flat]
    for start, end in pairwise(starts.tolist()):
        flat[start:end].sort()
    return flat, starts
