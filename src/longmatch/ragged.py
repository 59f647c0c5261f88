"""Segment reductions. Many short lists are stored as one flat array plus the offset at which each list begins.

Rows are the long axis (the units of a whole collection) and columns the short one (the units of one document), so that
every reduction scans memory in order. These are numpy's; the laboratory adds torch's, so that the same formulas run on
a GPU: they are written in what the array API standard has.
"""

from collections.abc import Iterator
from functools import singledispatch
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
"""An array of numpy; where the laboratory hands over a tensor, `lab.encoders.ragged.as_array` says so."""
AnyArray = Any
"""An array of numpy, or a tensor: what computes with both."""
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@singledispatch
def array_namespace(array: AnyArray) -> Any:
    """The functions of the library that an array is of, as the array API standard names them."""
    return np


@singledispatch
def as_numbers(values: AnyArray) -> Floats:
    """An array of any library, from any device, as numpy's of doubles."""
    return np.asarray(values, dtype=np.float64)


@singledispatch
def segment_max(values: AnyArray, offsets: AnyArray) -> Array:
    """Maximum of each segment: (units, columns) -> (groups, columns). Empty groups give -inf.

    >>> segment_max(np.array([[1.0], [3.0], [2.0]]), np.array([0, 2, 3])).tolist()
    [[3.0], [2.0]]
    """
    bounds = offsets.tolist()
    found = np.full((len(bounds) - 1, values.shape[1]), -np.inf, dtype=values.dtype)
    for group, (start, end) in enumerate(pairwise(bounds)):
        if end > start:  # a loop over groups is faster than maximum.reduceat, which scans columns
            np.max(values[start:end], axis=0, out=found[group])
    return found


@singledispatch
def segment_sum(values: AnyArray, offsets: AnyArray) -> Array:
    """Sum of each segment: (units, columns) -> (groups, columns). Empty groups give 0.

    >>> segment_sum(np.array([[1.0], [3.0], [2.0]]), np.array([0, 2, 2, 3])).tolist()
    [[4.0], [0.0], [2.0]]
    """
    found = np.zeros((len(offsets) - 1, values.shape[1]), dtype=values.dtype)
    filled = offsets[1:] > offsets[:-1]
    if filled.any():
        found[filled] = np.add.reduceat(values, offsets[:-1][filled], axis=0)
    return found


def segment_mean(values: Array, offsets: Array) -> Array:
    """Mean of each segment: (units, columns) -> (groups, columns). Empty groups give 0."""
    xp = array_namespace(values)
    lengths = (offsets[1:] - offsets[:-1]).clip(min=1)
    means: Array = segment_sum(values, offsets) / xp.astype(lengths, values.dtype)[:, None]
    return means


def offsets_of(lengths: Array) -> Array:
    """The start of each segment, and the end of the last.

    >>> offsets_of(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    xp = array_namespace(lengths)
    offsets: Array = xp.concat([xp.zeros(1, dtype=lengths.dtype, device=lengths.device), xp.cumulative_sum(lengths)])
    return offsets


def segment_ids(offsets: Array) -> Array:
    """The segment of each row.

    >>> segment_ids(np.array([0, 2, 2, 5])).tolist()
    [0, 0, 2, 2, 2]
    """
    xp = array_namespace(offsets)
    ids: Array = xp.repeat(xp.arange(len(offsets) - 1, device=offsets.device), offsets[1:] - offsets[:-1])
    return ids


def ranges(first: Ints, last: Ints) -> Ints:
    """The numbers from each first up to each last, which is left out, one after another.

    >>> ranges(np.array([3, 7, 8]), np.array([5, 7, 10])).tolist()
    [3, 4, 8, 9]
    """
    counts = last - first
    starts = np.repeat(first - np.concatenate([[0], counts.cumsum()[:-1]]), counts) if len(counts) else counts
    return np.arange(len(starts)) + starts


def segment_slices(offsets: list[int], rows: int) -> Iterator[tuple[int, int]]:
    """Runs of segments of at most `rows` rows together, as the first and the one after the last; a longer segment is a
    run by itself.

    >>> list(segment_slices([0, 2, 3, 9], 4))
    [(0, 2), (2, 3)]
    """
    first = 0
    for last in range(1, len(offsets)):
        if last == len(offsets) - 1 or offsets[last + 1] - offsets[first] > rows:
            yield first, last
            first = last


def unit_rows(vectors: Array) -> Array:
    """Vectors divided by their lengths; zeros stay zeros.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    lengths = ((vectors * vectors).sum(-1) ** 0.5).clip(min=1e-12)
    directions: Array = vectors / lengths[..., None]
    return directions
