"""Passages in text that repeats itself, at a cost that stays in bounds."""

import time
from collections.abc import Sequence

import numpy as np
import pytest

from longmatch.documents.document import Span
from longmatch.reuse import passages
from longmatch.reuse.align import Block
from longmatch.reuse.passages import Shared, shared_passages
from longmatch.reuse.shingles import Ints
from longmatch.reuse.words import Vocabulary, Words


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
