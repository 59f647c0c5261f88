"""All similar pairs, against the plain comparison of all with all."""

import time
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmatch.lab.datasets.similar_sets import jaccard, similar_pairs


@given(
    st.lists(st.sets(st.integers(0, 30), max_size=15), max_size=25),
    st.sampled_from([0.1, 0.25, 1 / 3, 0.5, 0.6, 0.7, 0.9]),
)
def test_the_index_finds_what_comparing_all_with_all_finds(sets, threshold):
    arrays = [np.array(sorted(s), dtype=np.int64) for s in sets]
    plain = {
        (i, j): len(a & b) / len(a | b)
        for (i, a), (j, b) in combinations(enumerate(sets), 2)
        if a | b and len(a & b) / len(a | b) > threshold
    }
    found = list(similar_pairs(arrays, threshold))
    assert len(found) == len(plain)
    assert {(i, j): value for i, j, value in found} == pytest.approx(plain)


def test_exactly_the_threshold_is_not_above_it():
    sets = [np.array([1, 2, 3]), np.array([2, 3, 4])]
    assert jaccard(*sets) == 0.5
    assert list(similar_pairs(sets, 0.5)) == []


def test_a_member_that_all_sets_share_does_not_compare_all_with_all():
    rng = np.random.default_rng(0)
    sets = [np.unique(np.append(rng.integers(1, 200_000, 40), 0)) for _ in range(5_000)]
    sets.append(sets[7])
    start = time.process_time()
    assert [(i, j) for i, j, _ in similar_pairs(sets, 0.5)] == [(7, 5000)]
    assert time.process_time() - start < 5  # twelve million comparisons would take minutes
