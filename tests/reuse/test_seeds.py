"""Exact runs of words, against all pairs of places."""

import random

import numpy as np
import pytest

from longmatch.reuse.seeds import exact_runs


def runs_by_force(a: list[int], b: list[int], least: int) -> set[tuple[int, int, int]]:
    """Every maximal run of at least `least` words that both hold."""
    found = set()
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i] != b[j] or (i and j and a[i - 1] == b[j - 1]):
                continue
            length = 0
            while i + length < len(a) and j + length < len(b) and a[i + length] == b[j + length]:
                length += 1
            if length >= least:
                found.add((i, j, length))
    return found


@pytest.mark.parametrize("seed", range(20))
def test_all_runs_are_found(seed):
    chance = random.Random(seed)
    a, b = ([chance.randrange(4) for _ in range(chance.randrange(90))] for _ in range(2))
    runs = exact_runs(np.array(a, dtype=np.int64), np.array(b, dtype=np.int64), 3, most=1000)
    found = list(zip(runs.i.tolist(), runs.j.tolist(), runs.length.tolist(), strict=True))
    assert set(found) == runs_by_force(a, b, 3)
    assert found == sorted(found)


def test_a_line_repeated_often_is_matched_in_step_and_at_bounded_cost():
    text = np.array([1, 2, 3, 4, 5] * 2000, dtype=np.int64)
    runs = exact_runs(text, text, 4)
    assert len(runs) < 9 * len(text)
    in_step = runs.i == runs.j
    assert runs.length[in_step].sum() >= len(text)
