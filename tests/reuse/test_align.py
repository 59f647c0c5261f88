"""The alignment of two texts in order, against the longest common subsequence of the whole."""

import random
from difflib import SequenceMatcher

import numpy as np
import pytest

from longmatch.reuse.align import align, without_strays
from tests.reuse.texts import edited, random_words


def numbered(*texts: list[str]) -> list[np.ndarray]:
    numbers: dict[str, int] = {}
    return [np.array([numbers.setdefault(word, len(numbers)) for word in text], dtype=np.int64) for text in texts]


def longest_common(a: list[int], b: list[int]) -> int:
    """By the whole table."""
    row = [0] * (len(b) + 1)
    for word in a:
        before = row
        row = [0]
        for j, other in enumerate(b):
            row.append(before[j] + 1 if word == other else max(row[j], before[j + 1]))
    return row[-1]


@pytest.mark.parametrize("seed", range(30))
def test_blocks_rise_in_both_texts_and_hold_the_same_words(seed):
    chance = random.Random(seed)
    a = [chance.randrange(12) for _ in range(chance.randrange(200))]
    b = [chance.randrange(12) for _ in range(chance.randrange(200))]
    i = j = 0
    for block in align(np.array(a, dtype=np.int64), np.array(b, dtype=np.int64)):
        assert block.i >= i and block.j >= j and block.length > 0
        i, j = block.i + block.length, block.j + block.length
        assert a[block.i : i] == b[block.j : j]
    assert i <= len(a) and j <= len(b)


@pytest.mark.parametrize("seed", range(10))
def test_small_texts_are_aligned_as_well_as_can_be(seed):
    a, b = numbered(random_words(seed, 60), edited(random_words(seed, 60), 0.3, seed))
    found = sum(block.length for block in align(a, b))
    assert found == longest_common(a.tolist(), b.tolist())


@pytest.mark.parametrize("share", [pytest.param(0.02, marks=pytest.mark.slow), 0.15])
def test_long_texts_are_aligned_nearly_as_well_as_can_be(share):
    text = random_words(1, 1500)
    a, b = numbered(text, edited(text, share))
    found = sum(block.length for block in align(a, b))
    assert found >= 0.99 * longest_common(a.tolist(), b.tolist())
    judged = SequenceMatcher(None, a.tolist(), b.tolist(), autojunk=False).get_matching_blocks()
    assert found >= sum(block.size for block in judged)


def test_the_larger_of_two_swapped_parts_stays():
    first, second = random_words(1, 300), random_words(2, 200)
    a, b = numbered(first + second, second + first)
    assert sum(block.length for block in align(a, b)) == pytest.approx(300, abs=5)


@pytest.mark.parametrize(("after", "kept"), [("abcxef-hijk", 10), ("abcdxf-hijk", 10), ("abcxyz-vwxijk", 6)])
def test_words_that_agree_by_accident_amid_changes_are_no_block(after, kept):
    a, b = numbered(list("abcdefghijk".replace("g", "-")), list(after))
    assert sum(block.length for block in without_strays(align(a, b), len(a), len(b))) == kept
