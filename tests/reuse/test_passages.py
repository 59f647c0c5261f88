"""Passages in text that repeats itself, at a cost that stays in bounds."""

import random
import time
from collections.abc import Sequence

import numpy as np
import pytest

from longmatch.documents.document import Span
from longmatch.reuse import passages
from longmatch.reuse.align import Block
from longmatch.reuse.passages import Shared, exact_runs, shared_passages
from longmatch.reuse.words import Ints, Vocabulary, Words


def test_text_made_of_one_pattern_takes_no_longer_than_its_length_says():
    lines = " ".join(
        f"Number {n} of these {n * 7} lines says what the rest {n % 11} of it left out." for n in range(1500)
    )
    words = Words.of(lines, [Span(0, len(lines))], Vocabulary())
    start = time.process_time()
    (found,) = shared_passages(words, words)
    assert time.process_time() - start < 3
    assert (found.a0, found.a1) == (0, len(words)) == (found.b0, found.b1) and found.unchanged == 1


def test_a_passage_that_moved_among_its_like_is_found_where_it_went():
    chance = np.random.default_rng(1)
    a, b = chance.integers(0, 400, 3000), chance.integers(0, 400, 3000)
    b[2000:2080] = a[100:180]
    places = np.arange(3000)
    (found,) = shared_passages(Words(a, a[:, None], places, places, False), Words(b, b[:, None], places, places, False))
    assert abs(found.a0 - 100) <= 1 and abs(found.a1 - 180) <= 1 and abs(found.b0 - 2000) <= 1


def test_a_chain_of_equal_gaps_is_halved_not_peeled(monkeypatch: pytest.MonkeyPatch):
    runs = 256  # of five words, and five changed words after each
    a = np.arange(10 * runs)
    b = np.where(a % 10 < 5, a, a + len(a))
    extend, sizes = passages._extended, []

    def counting(blocks: Sequence[Block], a: Ints, b: Ints) -> Shared:
        sizes.append(len(blocks))
        return extend(blocks, a, b)

    monkeypatch.setattr(passages, "_extended", counting)
    assert shared_passages(Words(a, a[:, None], a, a, False), Words(b, b[:, None], a, a, False)) == []
    assert sizes[0] == runs and sum(sizes) <= runs * np.log2(2 * runs)


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
    assert set(runs) == runs_by_force(a, b, 3)
    assert runs == sorted(runs)


def test_a_line_repeated_often_is_matched_in_step_and_at_bounded_cost():
    text = np.array([1, 2, 3, 4, 5] * 2000, dtype=np.int64)
    runs = exact_runs(text, text, 4)
    assert len(runs) < 9 * len(text)
    assert sum(run.length for run in runs if run.i == run.j) >= len(text)
