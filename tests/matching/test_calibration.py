"""One score that means something by itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmatch.matching.calibration import Calibration, Chance, mean_length
from longmatch.models.background import shipped_statistics

SIDES = ("words", "phrases", "meaning")
SHARES = st.floats(0.0, 0.99)
LENGTHS = st.sampled_from([5.0, 50.0, 300.0, 1_000.0, 20_000.0, 170_000.0])


@pytest.fixture(scope="module")
def calibration() -> Calibration:
    return shipped_statistics().calibration


def score(calibration: Calibration, similarities: dict[str, float], words: float) -> float:
    sides = {name: np.array([x]) for name, x in similarities.items()}
    return float(calibration.score(sides, np.array([words]))[0])


@given(st.lists(SHARES, min_size=3, max_size=3), st.sampled_from(SIDES), LENGTHS)
def test_the_score_rises_with_every_side(values, raised, words):
    calibration = shipped_statistics().calibration
    before = dict(zip(SIDES, values, strict=True))
    after = {**before, raised: before[raised] + 0.01}
    assert 0 < score(calibration, before, words) < score(calibration, after, words) <= 1


@given(LENGTHS)
def test_a_document_like_itself_on_every_side_scores_1(words):
    assert score(shipped_statistics().calibration, dict.fromkeys(SIDES, 1.0), words) == pytest.approx(1, abs=1e-12)


@given(LENGTHS)
def test_what_chance_gives_scores_near_0(words):
    calibration = shipped_statistics().calibration
    at_chance = {name: float(calibration.chance[name](np.array([words]))[0]) for name in SIDES}
    assert score(calibration, at_chance, words) < 0.05


@given(st.floats(1, 200_000))
def test_nothing_shared_is_no_evidence_however_short_the_texts(words):
    calibration = shipped_statistics().calibration
    assert calibration.evidence(dict.fromkeys(SIDES, np.zeros(1)), np.array([words]))[0] <= 0


def test_chance_rises_with_the_logarithm_of_length_and_is_never_negative():
    chance = Chance(level=0.1, slope=0.02)
    found = chance(np.array([1_000.0, 1_000 * np.e, 1_000 / np.e, 1.0]))
    assert found.tolist() == pytest.approx([0.1, 0.12, 0.08, 0.0])


def test_evidence_worked_by_hand(calibration):
    made = Calibration({"x": Chance(0.1, 0.0), "y": Chance(0.2, 0.0)}, {"x": 0.1, "y": 0.4}, half=2.0)
    sides = {"x": np.array([0.3]), "y": np.array([0.6])}
    assert made.evidence(sides, np.array([1_000.0])).tolist() == pytest.approx([2 + 1])


def test_no_two_similarities_give_the_same_score(calibration):
    scores = [score(calibration, {"words": x, "phrases": 0.0, "meaning": 0.0}, 1_000) for x in np.linspace(0, 1, 200)]
    assert len(set(scores)) == 200


def test_the_length_of_a_pair_is_the_geometric_mean():
    assert mean_length(np.array([100.0]), np.array([400.0, 100.0])).tolist() == [200.0, 100.0]
