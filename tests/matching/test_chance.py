"""What similarity to expect by chance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmatch.matching.chance import SIZES, Background, corrected, interpolation


def unit_rows(rows: int, width: int, seed: int) -> np.ndarray:
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
    background, vectors = unit_rows(200, 8, seed=0), unit_rows(5, 8, seed=1)
    expected = Background(background).expectations(vectors)
    cosines = vectors @ background.T
    for column, size in enumerate(SIZES[:5]):
        drawn = np.random.default_rng(size).integers(0, 200, (4000, size))
        best = cosines[:, drawn].max(2).mean(1)  # (vectors,)
        assert np.allclose(best, expected[:, column], atol=0.03)


def test_expectations_rise_with_the_number_of_sentences_and_do_not_depend_on_slices():
    background, vectors = Background(unit_rows(100, 8, seed=0)), unit_rows(7, 8, seed=1)
    expected = background.expectations(vectors)
    assert expected.shape == (7, len(SIZES))
    assert (np.diff(expected, axis=1) > -1e-6).all()
    assert np.allclose(background.expectations(vectors, rows=2), expected, atol=1e-6)
    assert background.expectations(vectors[:0]).shape == (0, len(SIZES))


def test_a_sentence_is_compared_with_the_kind_of_text_that_offers_it_most():
    kinds, vectors = [unit_rows(50, 8, seed=seed) for seed in (0, 1, 2)], unit_rows(6, 8, seed=3)
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


def test_a_background_is_carried_along_by_the_map_that_other_sentences_took():
    rows, turn = unit_rows(400, 8, seed=2), np.linalg.qr(np.eye(8) + 0.3 * unit_rows(8, 8, seed=3)).Q.astype(np.float32)
    background = Background(unit_rows(50, 8, seed=4), kinds=5)
    carried = background.carried(rows, rows @ turn, ridge=1e-6)
    assert np.allclose(carried.vectors, background.vectors @ turn, atol=1e-3)
    assert carried.kinds == 5
    assert np.allclose(background.carried(rows, rows).vectors, background.vectors, atol=1e-6)
