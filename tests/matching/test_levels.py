"""Best partners and group scores equal slow plain loops, in one piece and in slices."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmatch.matching import levels
from longmatch.matching.levels import (
    SIZES,
    Background,
    SentenceVectors,
    best_partners,
    corrected,
    group_scores,
    interpolation,
)
from longmatch.ragged import offsets_of, segment_slices, unit_rows

LENGTHS = st.lists(st.integers(1, 5), min_size=1, max_size=6)
SEEDS = st.integers(0, 1000)


def vectors_of(count: int, seed: int) -> SentenceVectors:
    drawn = np.random.default_rng(seed)
    vectors = unit_rows(drawn.normal(size=(count, 6)).astype(np.float32))
    return SentenceVectors(vectors, np.sort(drawn.random((count, len(SIZES))).astype(np.float32), axis=1) / 2)


@contextmanager
def slices_of(size: int) -> Iterator[None]:
    """So many sentences of one document at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(levels, "SLICE", size)
        yield


def best_in(mine: SentenceVectors, i: int, other: SentenceVectors, among: range) -> tuple[int, float, float]:
    """The best partner of one sentence among some of the other's, its cosine, and the same corrected for chance."""
    cosines = [float(mine.vectors[i] @ other.vectors[j]) for j in among]
    best = max(range(len(cosines)), key=cosines.__getitem__)
    expected = float(mine.expectations[i] @ interpolation(np.array([len(among)]))[0])
    return among[best], cosines[best], (cosines[best] - expected) / (1 - expected)


def mean_best(mine: SentenceVectors, rows: range, other: SentenceVectors, among: range) -> float:
    return sum(best_in(mine, i, other, among)[2] for i in rows) / len(rows)


@given(st.integers(1, 12), st.integers(1, 12), SEEDS, st.sampled_from([1, 3, 1024]))
@settings(deadline=None)
def test_best_partners_equal_the_plain_loop(rows, columns, seed, size):
    a, b = vectors_of(rows, seed), vectors_of(columns, seed + 1)
    with slices_of(size):
        found = best_partners(a, b)
    for partners, mine, other in zip(found, (a, b), (b, a), strict=True):
        expected = [best_in(mine, i, other, range(len(other))) for i in range(len(mine))]
        assert partners.index.tolist() == [index for index, _, _ in expected]
        assert partners.cosine.tolist() == pytest.approx([cosine for _, cosine, _ in expected], abs=1e-5)
        assert partners.corrected.tolist() == pytest.approx([value for _, _, value in expected], abs=1e-5)


@given(LENGTHS, SEEDS, st.sampled_from([2, 1024]))
@settings(deadline=None)
def test_sentences_kept_apart_are_no_partners(lengths, seed, size):
    sentences = vectors_of(sum(lengths), seed)
    home = np.array([group for group, length in enumerate(lengths) for _ in range(length)])
    with slices_of(size):
        partners, _ = best_partners(sentences, sentences, apart=(home, home))
    for i, (j, cosine) in enumerate(zip(partners.index.tolist(), partners.cosine.tolist(), strict=True)):
        others = [
            float(sentences.vectors[i] @ sentences.vectors[k]) for k in range(len(sentences)) if home[k] != home[i]
        ]
        assert cosine == pytest.approx(max(others, default=-1.0), abs=1e-5)
        assert not others or home[i] != home[j]


@given(LENGTHS, LENGTHS, SEEDS, st.sampled_from([1, 4, 1024]))
@settings(deadline=None)
def test_group_scores_equal_the_plain_loop(mine, theirs, seed, size):
    a, b = vectors_of(sum(mine), seed), vectors_of(sum(theirs), seed + 1)
    a_offsets, b_offsets = offsets_of(np.array(mine)), offsets_of(np.array(theirs))
    with slices_of(size):
        found = group_scores(a, b, a_offsets, b_offsets)
    rows, columns = ([range(*run) for run in pairwise(offsets.tolist())] for offsets in (a_offsets, b_offsets))
    expected = [[(mean_best(a, r, b, c) + mean_best(b, c, a, r)) / 2 for c in columns] for r in rows]
    assert np.allclose(found, np.array(expected), atol=1e-5)


@given(LENGTHS, st.integers(1, 12))
def test_documents_are_taken_together_until_the_room_is_full(lengths, rows):
    offsets = offsets_of(np.array(lengths)).tolist()
    runs = list(segment_slices(offsets, rows))
    assert [first for first, _ in runs] == [0, *(last for _, last in runs)][:-1] and runs[-1][1] == len(lengths)
    assert all(last == first + 1 or offsets[last] - offsets[first] <= rows for first, last in runs)


def drawn_rows(rows: int, width: int, seed: int) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(size=(rows, width)).astype(np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def test_the_expected_maximum_worked_by_hand():
    # cosines with the background: -1, 0 and 1; of four draws the best is 1 unless all four miss it
    background = Background(np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]))
    one, four = background.expectations(np.array([[1.0, 0.0]]))[0, :2].tolist()
    assert one == pytest.approx(0.0, abs=1e-6)
    best_is_1, best_is_minus_1 = 1 - (2 / 3) ** 4, (1 / 3) ** 4
    assert four == pytest.approx(best_is_1 - best_is_minus_1, abs=1e-6)


def test_the_expected_maximum_is_that_of_many_draws():
    background, vectors = drawn_rows(200, 8, seed=0), drawn_rows(5, 8, seed=1)
    expected = Background(background).expectations(vectors)
    cosines = vectors @ background.T
    for column, size in enumerate(SIZES[:5]):
        drawn = np.random.default_rng(size).integers(0, 200, (4000, size))
        best = cosines[:, drawn].max(2).mean(1)  # (vectors,)
        assert np.allclose(best, expected[:, column], atol=0.03)


def test_expectations_rise_with_the_number_of_sentences_and_do_not_depend_on_slices():
    background, vectors = Background(drawn_rows(100, 8, seed=0)), drawn_rows(7, 8, seed=1)
    expected = background.expectations(vectors)
    assert expected.shape == (7, len(SIZES))
    assert (np.diff(expected, axis=1) > -1e-6).all()
    assert np.allclose(background.expectations(vectors, rows=2), expected, atol=1e-6)
    assert background.expectations(vectors[:0]).shape == (0, len(SIZES))


def test_a_sentence_is_compared_with_the_kind_of_text_that_offers_it_most():
    kinds, vectors = [drawn_rows(50, 8, seed=seed) for seed in (0, 1, 2)], drawn_rows(6, 8, seed=3)
    each = np.stack([Background(kind).expectations(vectors) for kind in kinds])
    assert len(np.unique(each[:, :, -1].argmax(0))) > 1
    found = Background(np.concatenate(kinds), kinds=3).expectations(vectors, rows=4)
    assert np.allclose(found, each.max(0), atol=1e-6)


@given(st.integers(0, 100_000))
def test_interpolation_is_linear_in_the_logarithm(size):
    weights = interpolation(np.array([size]))[0]
    assert weights.sum() == pytest.approx(1) and (weights >= 0).all() and (weights > 0).sum() <= 2
    logs = np.log(np.array(SIZES))
    inside = np.log(min(max(size, 1), SIZES[-1]))
    assert float(weights @ logs) == pytest.approx(float(inside), abs=1e-4)


@pytest.mark.parametrize("at", range(len(SIZES)))
def test_a_tabled_size_takes_its_own_value(at):
    assert interpolation(np.array([SIZES[at]]))[0].tolist() == [float(i == at) for i in range(len(SIZES))]


def test_a_corrected_cosine_is_0_at_chance_and_1_for_the_same_sentence():
    found = corrected(np.array([0.4, 1.0, 0.7]), np.array([0.4, 0.4, 0.4]))
    assert found.tolist() == pytest.approx([0.0, 1.0, 0.5])
