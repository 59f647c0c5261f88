"""Match-Ignition's filters: PageRank solved as equations, and worked by hand, against the iteration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longmatch.lab.baselines.filtering.pagerank import (
    best_within,
    central_sentences,
    central_words,
    joint_pagerank,
    pagerank,
)


def solved(weights: np.ndarray, damping: float) -> np.ndarray:
    """The same as linear equations: r = d W' r + (1 - d) / n."""
    count = len(weights)
    ways = weights - np.diag(np.diag(weights))
    ways = np.array([row / row.sum() if row.sum() else np.full(count, 1 / count) for row in ways])
    return np.linalg.solve(np.eye(count) - damping * ways.T, np.full(count, (1 - damping) / count))


@given(st.integers(1, 12), st.integers(0, 1000), st.sampled_from([0.0, 0.5, 0.85]))
def test_the_iteration_ends_where_the_equations_are_solved(count, seed, damping):
    rng = np.random.default_rng(seed)
    weights = rng.random((count, count)) * (rng.random((count, count)) < 0.4)
    found = pagerank(weights, damping)
    np.testing.assert_allclose(found, solved(weights, damping), atol=1e-7)
    assert found.sum() == pytest.approx(1)


def central_of(similarity: np.ndarray, lengths: np.ndarray, first: int, limit: int, most: int | None = None):
    ranks = pagerank(similarity)
    return central_sentences((ranks[:first], ranks[first:]), (lengths[:first], lengths[first:]), limit, most)


@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 1000), st.sampled_from([0.1, 0.4, 1.0]))
def test_a_graph_in_two_parts_has_the_ranks_of_the_whole(first, second, seed, density):
    rng = np.random.default_rng(seed)
    size = first + second
    weights = np.triu(rng.random((size, size)) * (rng.random((size, size)) < density), 1)
    weights += weights.T
    parts = csr_array(weights[:first, :first]), csr_array(weights[first:, first:])
    found = joint_pagerank(parts, csr_array(weights[:first, first:]))
    np.testing.assert_allclose(np.concatenate(found), pagerank(weights), atol=1e-9)


def test_a_star_worked_by_hand():
    # The middle c is reached from all three leaves: c = .05 + .8 (3 l), l = .05 + .8 (c / 3) with n = 4, d = .8.
    # So c = .05 + 2.4 (.05 + .8 c / 3) = .17 + .64 c: c = .17 / .36.
    star = np.zeros((4, 4))
    star[0, 1:] = star[1:, 0] = 1
    found = pagerank(star, damping=0.8)
    assert found[0] == pytest.approx(0.17 / 0.36, abs=1e-8)
    assert found[1:] == pytest.approx([(1 - 0.17 / 0.36) / 3] * 3, abs=1e-8)


def test_what_a_sentence_has_with_itself_does_not_count():
    weights = np.array([[5.0, 1.0], [1.0, 0.0]])
    assert pagerank(weights).tolist() == pytest.approx([0.5, 0.5])


def test_a_sentence_that_only_the_other_document_supports_stays_before_one_that_none_supports():
    # a: two sentences, b: two. Sentence 1 of a shares words with both of b; sentence 0 of a with none.
    similarity = np.zeros((4, 4))
    similarity[1, 2] = similarity[2, 1] = similarity[1, 3] = similarity[3, 1] = 1.0
    lengths = np.full(4, 10)
    mine, theirs = central_of(similarity, lengths, first=2, limit=10)
    assert mine.tolist() == [1] and theirs.tolist() == [0]  # of equals the earlier


def test_both_documents_are_one_graph():
    # Alone, sentence 0 of a is the most central of a; what b shares with sentence 2 lifts that above it.
    similarity = np.zeros((6, 6))
    for i, j, weight in [(0, 1, 1.0), (0, 2, 1.0), (2, 3, 1.0), (2, 4, 1.0), (2, 5, 1.0)]:
        similarity[i, j] = similarity[j, i] = weight
    alone = best_within(pagerank(similarity[:3, :3]), np.full(3, 1), limit=1)
    together, _ = central_of(similarity, np.full(6, 1), first=3, limit=1)
    assert alone.tolist() == [0] and together.tolist() == [2]


@given(st.integers(1, 8), st.integers(1, 8), st.integers(1, 60), st.none() | st.integers(1, 4), st.integers(0, 99))
def test_what_is_kept_fits_and_stands_in_reading_order(first, second, limit, most, seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 20, first + second)
    found = central_of(rng.random((first + second,) * 2), lengths, first, limit, most)
    for numbers, own in zip(found, (lengths[:first], lengths[first:]), strict=True):
        assert len(numbers) and (np.diff(numbers) > 0).all() and numbers.max() < len(own)
        assert len(numbers) == 1 or own[numbers].sum() <= limit
        assert most is None or len(numbers) <= most


def test_the_least_central_words_go_and_the_first_stays_whatever_it_is():
    # Five words: all attend to words 1 and 4, so 2 and 3 are least central; nothing attends to word 0, which is fixed.
    head = np.array([[0, 0.5, 0, 0, 0.5]] * 5)
    attention = np.stack([head, head])
    assert central_words(attention, kept=0.5).tolist() == [0, 1, 4]
    assert central_words(attention, kept=1.0).tolist() == [0, 1, 2, 3, 4]
    assert central_words(attention, kept=0.5, fixed=()).tolist() == [0, 1, 4]  # three of five stay: 2.5 rounded up
    assert central_words(attention, kept=0.5, fixed=(0, 3)).tolist() == [0, 1, 3, 4]


def test_heads_count_alike():
    rng = np.random.default_rng(0)
    attention = rng.dirichlet(np.ones(9), size=(4, 9))
    mean = attention.mean(0, keepdims=True)
    assert central_words(attention, 0.7).tolist() == central_words(mean, 0.7).tolist()
