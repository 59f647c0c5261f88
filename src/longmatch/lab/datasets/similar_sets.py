"""Set similarity join: all pairs of sets with a large overlap, without comparing every pair.

The members of a set are sorted from rare to common, the sets from small to large. Two sets of Jaccard similarity above
t, |y| <= |x|, share one of the first |x| - ceil(t |x|) + 1 members of x and of the first |y| - ceil(2t/(1+t) |y|) + 1
of y (prefix filtering: Chaudhuri et al. 2006, Bayardo et al. 2007). Only those are looked up and kept in an inverted
index, in which rare members have short lists. A pair is skipped if the sizes (|y| <= t |x|), or the members left from
the first shared one on, cannot reach the threshold. The remaining pairs are counted exactly.
"""

from array import array
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

Members = npt.NDArray[np.integer[Any]]

_BITS = 24  # low bits of a posting: the members left in the set; the high bits are the set's index
_MASK = (1 << _BITS) - 1


def jaccard(first: Members, second: Members) -> float:
    """Jaccard similarity of two sorted arrays without repeats.

    >>> jaccard(np.array([1, 2, 3]), np.array([2, 3, 4]))
    0.5
    """
    shared = len(np.intersect1d(first, second, assume_unique=True))
    union = len(first) + len(second) - shared
    return shared / union if union else 0.0


def similar_pairs(sets: Sequence[Members], threshold: float) -> Iterator[tuple[int, int, float]]:
    """Yield (i, j, similarity), i < j, for the pairs of sets with Jaccard similarity above the threshold.

    A set is an array of distinct integers from 0 up, which should be dense over all sets.

    >>> sets = [np.array(s) for s in ([1, 2, 3], [2, 3, 4], [1, 2, 3, 4], [9])]
    >>> sorted(similar_pairs(sets, 0.5))
    [(0, 2, 0.75), (1, 2, 0.75)]
    """
    if not 0 < threshold < 1:
        raise ValueError("the threshold must be between 0 and 1")
    flat, starts = _rare_first(sets)
    sizes = np.diff(starts).tolist()
    min_overlap = threshold / (1 + threshold)  # shared members of a pair, as a fraction of their summed sizes
    index: dict[int, array[int]] = {}  # member -> postings
    for current in np.argsort(sizes, kind="stable").tolist():
        members, size = flat[starts[current] : starts[current + 1]].tolist(), sizes[current]
        candidates: set[int] = set()
        for position, member in enumerate(members[: _prefix_length(size, threshold)]):
            for posting in index.get(member, ()):
                other, left = posting >> _BITS, posting & _MASK
                total = size + sizes[other]
                if sizes[other] > threshold * size and min(size - position, left) > min_overlap * total - 1e-9:
                    candidates.add(other)
        member_set = set(members) if candidates else set()
        for other in sorted(candidates):
            shared = len(member_set.intersection(flat[starts[other] : starts[other + 1]].tolist()))
            similarity = shared / (size + sizes[other] - shared)
            if similarity > threshold:
                yield min(current, other), max(current, other), similarity
        for position, member in enumerate(members[: _prefix_length(size, 2 * min_overlap)]):
            index.setdefault(member, array("q")).append(current << _BITS | size - position)


def _prefix_length(size: int, fraction: float) -> int:
    """Length of a prefix that contains at least one of any `fraction` of the members."""
    return size - ceil(fraction * size - 1e-9) + 1


def _rare_first(sets: Sequence[Members]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """The concatenated sets, renumbered so that rare members come first, each sorted; and their offsets."""
    starts = np.concatenate([[0], np.cumsum([len(members) for members in sets], dtype=np.int64)])
    flat = np.concatenate([np.zeros(0, dtype=np.int32), *sets]).astype(np.int32)
    counts = np.bincount(flat)
    rank = np.empty(len(counts), dtype=np.int32)
    rank[np.argsort(counts, kind="stable")] = np.arange(len(counts), dtype=np.int32)
    flat = rank[flat]
    for start, end in pairwise(starts.tolist()):
        flat[start:end].sort()
    return flat, starts
