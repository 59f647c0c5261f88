"""All pairs of sets that overlap enough, without comparing all with all.

The sets are sorted from rare to common members. Two sets of Jaccard similarity above t share at least one of the first
|x| - ceil(t |x|) + 1 members of each (prefix filtering), so only those are looked up in an inverted index, where the
rare members have short lists; and the sizes of the two differ by at most a factor t. What remains is counted exactly.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import ceil

import numpy as np
import numpy.typing as npt

Members = npt.NDArray[np.int64]


def jaccard(first: Members, second: Members) -> float:
    """Shared members over all members of two sorted arrays without repeats.

    >>> jaccard(np.array([1, 2, 3]), np.array([2, 3, 4]))
    0.5
    """
    shared = len(np.intersect1d(first, second, assume_unique=True))
    together = len(first) + len(second) - shared
    return shared / together if together else 0.0


def similar_pairs(sets: Sequence[Members], threshold: float) -> Iterator[tuple[int, int, float]]:
    """Pairs (i, j), i < j, of sets (arrays without repeats) with Jaccard similarity above the threshold, and the value.

    >>> sets = [np.array(s) for s in ([1, 2, 3], [2, 3, 4], [1, 2, 3, 4], [9])]
    >>> sorted(similar_pairs(sets, 0.5))
    [(0, 2, 0.75), (1, 2, 0.75)]
    """
    if not 0 < threshold < 1:
        raise ValueError("the threshold lies between 0 and 1")
    if not len(sets):
        return
    rare_first = _by_rarity(sets)
    index: dict[int, list[int]] = defaultdict(list)
    for one in sorted(range(len(sets)), key=lambda i: (len(sets[i]), i)):  # small sets first
        members = rare_first[one]
        size = len(members)
        smallest = threshold * size  # a smaller set cannot reach the threshold
        prefix = members[: size - ceil(smallest - 1e-9) + 1].tolist()
        met = {other for member in prefix for other in index[member] if len(rare_first[other]) > smallest}
        held = set(members.tolist()) if met else set()
        for other in sorted(met):
            shared = len(held.intersection(rare_first[other].tolist()))
            value = shared / (size + len(rare_first[other]) - shared)
            if value > threshold:
                yield min(one, other), max(one, other), value
        for member in prefix:
            index[member].append(one)


def _by_rarity(sets: Sequence[Members]) -> list[Members]:
    """The same sets with members renamed so that a smaller number is a rarer member, each sorted."""
    flat = np.concatenate([np.asarray(members, dtype=np.int64) for members in sets])
    _, names, counts = np.unique(flat, return_inverse=True, return_counts=True)
    rank = np.empty(len(counts), dtype=np.int64)
    rank[np.argsort(counts, kind="stable")] = np.arange(len(counts))
    ends = np.cumsum([len(members) for members in sets])[:-1]
    return [np.sort(members) for members in np.split(rank[names], ends)]
