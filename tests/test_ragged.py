"""Reductions over runs of rows equal the plain loops, in numpy as in torch."""

from itertools import accumulate, pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import longmatch.lab.encoders.ragged  # noqa: F401 - lets the reductions take tensors
from longmatch.ragged import (
    array_namespace,
    as_numbers,
    offsets_of,
    segment_ids,
    segment_max,
    segment_mean,
    segment_slices,
    segment_sum,
    unit_rows,
)

LENGTHS = st.lists(st.integers(0, 5), min_size=1, max_size=12)
COLUMNS = st.integers(1, 4)
SEEDS = st.integers(0, 1000)
REDUCTIONS = {
    "max": (segment_max, max, float("-inf")),
    "sum": (segment_sum, sum, 0.0),
    "mean": (segment_mean, lambda column: sum(column) / len(column), 0.0),
}


@pytest.mark.parametrize("name", REDUCTIONS)
@given(lengths=LENGTHS, columns=COLUMNS, seed=SEEDS)
def test_a_reduction_equals_the_plain_loop_and_empty_groups_have_their_value(name, lengths, columns, seed):
    fast, slow, empty = REDUCTIONS[name]
    values = np.random.default_rng(seed).normal(size=(sum(lengths), columns)).astype(np.float32)
    offsets = offsets_of(np.array(lengths))
    groups = [values[start:end].T.tolist() for start, end in pairwise(offsets.tolist())]
    expected = [[slow(column) if column else empty for column in group] for group in groups]
    assert np.allclose(fast(values, offsets), expected, atol=1e-6)
    tensors = fast(torch.from_numpy(values), torch.from_numpy(offsets))
    assert isinstance(tensors, torch.Tensor) and np.allclose(as_numbers(tensors), expected, atol=1e-6)


@given(LENGTHS)
def test_offsets_and_run_numbers_are_those_of_a_loop(lengths):
    offsets = offsets_of(np.array(lengths))
    assert offsets.tolist() == [sum(lengths[:i]) for i in range(len(lengths) + 1)]
    assert segment_ids(offsets).tolist() == [run for run, length in enumerate(lengths) for _ in range(length)]
    assert segment_ids(torch.from_numpy(offsets)).tolist() == segment_ids(offsets).tolist()


def test_vectors_of_length_1_and_zeros_that_stay():
    vectors = np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)
    assert unit_rows(vectors).tolist() == unit_rows(torch.from_numpy(vectors)).tolist()
    assert np.allclose(unit_rows(vectors), [[0.6, 0.8], [0.0, 0.0]])


def test_torch_offers_the_same_functions_as_numpy():
    values = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    tensor = torch.from_numpy(values)
    ours, theirs = array_namespace(values), array_namespace(tensor)
    for name in ("max", "argmax", "mean", "sort", "std"):
        for axis in (0, 1):
            assert np.allclose(getattr(ours, name)(values, axis=axis), getattr(theirs, name)(tensor, axis=axis))
    assert theirs.asarray([1.0], dtype=theirs.float32).dtype == torch.float32
    assert theirs.astype(tensor, theirs.int64).dtype == torch.int64
    counts = np.array([2, 0, 1, 1])
    repeated = theirs.repeat(tensor[:, 0], torch.from_numpy(counts))
    assert ours.repeat(values[:, 0], counts).tolist() == repeated.tolist()


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8), st.integers(1, 10))
def test_slices_hold_whole_segments_and_all_of_them(lengths, rows):
    offsets = [0, *accumulate(lengths)]
    runs = list(segment_slices(offsets, rows))
    assert [0, *(last for _, last in runs)][:-1] == [first for first, _ in runs] and runs[-1][1] == len(lengths)
    assert all(last == first + 1 or offsets[last] - offsets[first] <= rows for first, last in runs)
