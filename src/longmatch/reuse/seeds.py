"""The exact runs of words that stand in both of two texts: where anything longer can begin."""

from dataclasses import dataclass

import numpy as np

from longmatch.reuse.shingles import Ints, occurrence_ranks, shingles

MOST = 8  # places of the other text that a run is looked for in: of a line repeated a thousand times, those in step


@dataclass(frozen=True)
class Runs:
    """Runs of the same words: `length` words from a[i] and from b[j], none of which can be longer."""

    i: Ints
    j: Ints
    length: Ints

    def __len__(self) -> int:
        return len(self.i)


def exact_runs(a: Ints, b: Ints, least: int, most: int = MOST) -> Runs:
    """All runs of at least `least` words, sorted by their place in a, then in b.

    Time and memory grow with the texts: a run that stands in b more often than `most` is matched with those places
    that have as many before them as it has in a, so that copies stay in step.

    >>> runs = exact_runs(np.array([1, 2, 3, 4, 9, 5]), np.array([8, 2, 3, 4, 5]), 2)
    >>> list(zip(runs.i.tolist(), runs.j.tolist(), runs.length.tolist()))
    [(1, 1, 3)]
    """
    i, j = _seeds(a, b, least, most)
    if not len(i):
        return Runs(i, i, i)
    order = np.lexsort((i, i - j))
    i, j = i[order], j[order]
    first = np.concatenate([[True], (np.diff(i) != 1) | (np.diff(i - j) != 0)])
    starts = np.flatnonzero(first)
    lengths = np.diff(np.append(starts, len(i))) + least - 1
    i, j = i[starts], j[starts]
    order = np.lexsort((j, i))
    return Runs(i[order], j[order], lengths[order])


def _seeds(a: Ints, b: Ints, least: int, most: int) -> tuple[Ints, Ints]:
    """Where the runs of exactly `least` words stand in both."""
    own, other = shingles(a, least), shingles(b, least)
    order = np.argsort(other, kind="stable")
    ordered = other[order]
    left = np.searchsorted(ordered, own, "left")
    found = np.searchsorted(ordered, own, "right") - left
    taken = np.minimum(found, most)
    ahead = np.clip(occurrence_ranks(own) - most // 2, 0, found - taken)
    i = np.repeat(np.arange(len(own)), taken)
    within = np.arange(len(i)) - np.repeat(np.cumsum(taken) - taken, taken)
    return i, order[np.repeat(left + ahead, taken) + within]
