"""Reductions over runs of rows equal the plain loops."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from longmatch.lab.encoders.ragged import (
    fetch_async,
    offsets_of,
    segment_ids,
    segment_max,
    segment_mean,
    segment_sum,
    to_device,
)

LENGTHS = st.lists(st.integers(0, 5), min_size=1, max_size=12)
COLUMNS = st.integers(0, 4)
SEEDS = st.integers(0, 1000)


def drawn(lengths: list[int], columns: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    values = torch.randn((sum(lengths), columns), generator=torch.Generator().manual_seed(seed))
    return values, offsets_of(torch.tensor(lengths))


def plain(values: torch.Tensor, offsets: torch.Tensor, reduce, empty: float) -> torch.Tensor:
    """Group by group, column by column."""
    rows = []
    for start, end in pairwise(offsets.tolist()):
        group = values[start:end].T.tolist()
        rows.append([reduce(column) if column else empty for column in group])
    return torch.tensor(rows).reshape(len(rows), values.shape[1])


def mean(column: list[float]) -> float:
    return sum(column) / len(column)


@pytest.mark.parametrize(
    ("fast", "slow", "empty"),
    [(segment_max, max, float("-inf")), (segment_sum, sum, 0.0), (segment_mean, mean, 0.0)],
    ids=["max", "sum", "mean"],
)
@given(lengths=LENGTHS, columns=COLUMNS, seed=SEEDS)
def test_a_reduction_equals_the_plain_loop_and_empty_groups_have_their_value(fast, slow, empty, lengths, columns, seed):
    values, offsets = drawn(lengths, columns, seed)
    assert torch.allclose(fast(values, offsets), plain(values, offsets, slow, empty), atol=1e-6)


@given(LENGTHS)
def test_offsets_and_run_numbers_are_those_of_a_loop(lengths):
    offsets = offsets_of(torch.tensor(lengths))
    assert offsets.tolist() == [sum(lengths[:i]) for i in range(len(lengths) + 1)]
    assert segment_ids(offsets).tolist() == [run for run, length in enumerate(lengths) for _ in range(length)]


def test_reductions_keep_bfloat16():
    values = torch.tensor([[1.0], [3.0], [2.0]], dtype=torch.bfloat16)
    offsets = torch.tensor([0, 2, 3])
    assert segment_max(values, offsets).dtype == segment_mean(values, offsets).dtype == torch.bfloat16
    assert segment_mean(values, offsets).tolist() == [[2.0], [2.0]]


def test_on_a_processor_numbers_stay_where_they_are():
    numbers, processor = torch.arange(5), torch.device("cpu")
    assert to_device(numbers, processor) is numbers
    assert fetch_async(numbers)() is numbers
