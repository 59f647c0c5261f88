"""Aligned passages, and the share of the score each carries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmatch.matching.align import Evidence, Pairs, alignments, merge
from longmatch.matching.match import Alignment, Passage

MASSES = st.lists(st.tuples(st.integers(-1, 4), st.floats(0, 10)), min_size=5, max_size=5)


def evidence(rows: list[tuple[int, float]], lexical: bool = False) -> Evidence:
    return Evidence(np.array([p for p, _ in rows], dtype=np.int64), np.array([m for _, m in rows]), lexical)


class Named:
    """Sentences by their numbers."""

    def __init__(self, side: str) -> None:
        self.side = side

    def passages(self, rows: np.ndarray) -> list[Passage]:
        return [Passage(f"{self.side}{i}", i, i + 1, "") for i in rows.tolist()]


def aligned(pairs) -> tuple[Alignment, ...]:
    return alignments(pairs, (Named("a"), Named("b")), lambda i, j: np.ones(len(i)))


def test_both_directions_of_a_pair_add_up():
    forward = [evidence([(1, 2.0), (0, 1.0)]), evidence([(1, 0.5), (-1, 9.0)], lexical=True)]
    backward = [evidence([(1, 4.0), (0, 3.0)])]
    # a0-b1: 2 + 0.5 lexical, and b1 -> a0: 3; a1-b0: 1 and b0 -> a1: 4; a partner of -1 is none
    merged = merge(forward, backward)
    columns = (merged.a, merged.b, merged.mass, merged.lexical)
    assert list(zip(*(c.tolist() for c in columns), strict=True)) == [(0, 1, 5.5, 0.5), (1, 0, 5.0, 0.0)]


@given(MASSES, MASSES)
def test_contributions_sum_to_1_and_the_strongest_comes_first(forward, backward):
    found = aligned(merge([evidence(forward)], [evidence(backward, lexical=True)]))
    if any(p >= 0 and m > 0 for p, m in forward + backward):
        assert sum(x.contribution for x in found) == pytest.approx(1)
    assert [x.contribution for x in found] == sorted((x.contribution for x in found), reverse=True)
    assert all(0 <= x.lexical <= x.contribution + 1e-12 for x in found)


def test_every_third_pair_is_a_paraphrase_as_long_as_there_are_any_and_pairs_that_say_nothing_come_last():
    count = 9
    strength = np.array([0.9, 0.8, 0.0, 0.6, 0.5, 0.0, 0.3, 0.2, 0.1])
    other = np.isin(np.arange(count), [4, 7])
    rows = np.arange(count)
    pairs = Pairs(rows, rows, np.ones(count), np.zeros(count), strength, other)
    assert pairs.strongest().tolist() == [0, 1, 4, 3, 6, 7, 8, 2, 5]
    assert pairs.evidence.tolist() == [0, 1, 4, 3, 6, 7, 8]
    found = aligned(pairs)
    assert [x.evidence for x in found] == [True] * 7 + [False] * 2
    assert [x.a.text for x in found if x.paraphrase] == ["a4", "a7"]


def test_a_pair_can_be_listed_that_carries_nothing():
    merged = merge([evidence([(1, 2.0)])], [], also=(np.array([0, 3]), np.array([1, 2])))
    assert list(zip(merged.a.tolist(), merged.b.tolist(), merged.mass.tolist(), strict=True)) == [
        (0, 1, 2.0),
        (3, 2, 0.0),
    ]
    assert [x.contribution for x in aligned(merged)] == [1.0, 0.0]


def test_no_evidence_aligns_nothing():
    assert aligned(merge([evidence([(-1, 1.0)])], [evidence([(0, 0.0)])])) == ()


def test_equal_contributions_keep_the_order_of_the_text():
    words = evidence([(1, 1.0)], lexical=True)
    found = aligned(merge([words, evidence([(3, 1.0), (-1, 0.0), (0, 1.0)])], [evidence([])]))
    assert [(x.a.text, x.b.text) for x in found] == [("a0", "b1"), ("a0", "b3"), ("a2", "b0")]
    assert [x.kind for x in found] == ["keyword", "meaning", "meaning"]
