"""One score that means something by itself."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmatch.default.calibration import Calibration, Scale
from longmatch.default.comparison import Comparison
from longmatch.default.sides import BY_NAME, Side
from longmatch.default.statistics import shipped_statistics

SIDES = ("words", "phrases", "meaning")
SHARES = st.floats(0.0, 0.99)
TRUST = st.sampled_from([0.0, 0.3, 1.0])


@pytest.fixture
def made() -> Calibration:
    """Two sides: x from 0.1 up, y from 0.2 up."""
    return Calibration({"x": Scale(2.0, 0.1, 0.1), "meaning": Scale(1.0, 0.05, 0.2)}, slope=0.5, bias=-1.0)


def score(calibration: Calibration, similarities: dict[str, float]) -> float:
    return float(calibration.score({name: np.array([x]) for name, x in similarities.items()})[0])


@given(st.lists(SHARES, min_size=3, max_size=3), st.sampled_from(SIDES))
def test_the_score_rises_with_every_side(values, raised):
    calibration = shipped_statistics().calibration
    before = dict(zip(SIDES, values, strict=True))
    after = {**before, raised: before[raised] + 0.01}
    assert 0 < score(calibration, before) < score(calibration, after) <= 1


@given(TRUST)
def test_a_document_like_itself_on_every_side_scores_1_in_any_language(share):
    calibration = shipped_statistics().calibration.trusting(share)
    copy = {name: float(BY_NAME[name].full_for_copies) for name in calibration.sides}
    assert score(calibration, copy) == pytest.approx(1, abs=1e-4)


def test_relatives_that_names_lift_above_a_copy_keep_their_order_below_1():
    calibration = shipped_statistics().calibration
    found = [score(calibration, {**dict.fromkeys(SIDES, 1.0), "named": named}) for named in (0.0, 0.2, 0.5, 1.0)]
    assert found[0] < found[1] < found[2] < found[3] < 1


@given(TRUST)
def test_the_probability_of_a_document_like_itself_is_very_near_1_before_it_is_made_1(share):
    calibration = shipped_statistics().calibration.trusting(share)
    evidence = float(calibration.evidence(dict.fromkeys(calibration.sides, np.ones(1)))[0])
    assert 1 / (1 + math.exp(-(calibration.slope * evidence + calibration.bias))) > 0.99


@given(TRUST)
def test_what_chance_gives_scores_near_0(share):
    calibration = shipped_statistics().calibration.trusting(share)
    assert score(calibration, {name: calibration.scales[name].chance for name in calibration.sides}) < 0.05


def test_evidence_and_score_worked_by_hand(made):
    sides = {"x": np.array([0.3, 0.1]), "meaning": np.array([0.45, -0.3])}
    evidence = [2 * math.log(0.4 / 0.2) + math.log(0.5 / 0.25), math.log(0.005 / 0.25)]  # 3 ln 2, -ln 50
    assert made.evidence(sides).tolist() == pytest.approx(evidence)
    most = 1 / (1 + math.exp(1 - (2 * math.log(1.1 / 0.2) + math.log(1.05 / 0.25)) / 2))
    expected = [(1 - 1e-6) / (1 + math.exp(1 - e / 2)) / most for e in evidence]
    assert made.score(sides).tolist() == pytest.approx(expected)


def test_no_two_similarities_give_the_same_score():
    calibration = shipped_statistics().calibration
    scores = [score(calibration, {"words": x, "phrases": 0.0, "meaning": 0.0}) for x in np.linspace(0, 1, 200)]
    assert len(set(scores)) == 200


def test_in_a_language_half_known_meaning_gives_half_its_evidence_for_and_against(made):
    half = made.trusting(0.5)
    for x in (0.0, 0.2, 0.6):
        only = {"meaning": np.array([x])}
        assert half.evidence(only)[0] == pytest.approx(made.evidence(only)[0] / 2)
    assert half.scales["x"] == made.scales["x"]


def test_titles_that_say_half_give_half_their_evidence_and_no_other_side_less():
    scales = {name: Scale(1.0, 0.1, 0.0) for name in ("words", "named", "title", "meaning")}
    half = Calibration(scales, 1.0, 0.0).trusting(0.5, 0.5)
    assert {name: scale.weight for name, scale in half.scales.items()} == {
        "words": 1.0,
        "named": 1.0,
        "title": 0.5,
        "meaning": 0.5,
    }


def test_length_corrects_words_and_phrases_as_far_as_the_language_is_not_known():
    shipped = shipped_statistics().calibration
    assert "length" not in shipped.trusting(1.0).sides
    for language in (0.0, 0.5):
        found = shipped.trusting(language).scales
        assert found["length"].weight == (1 - language) * (found["words"].weight + found["phrases"].weight)
        assert found["length"].evidence(np.ones(1))[0] == 0


def test_length_has_no_share_of_what_two_documents_have_in_common():
    sides = {"words": np.array([0.3]), "phrases": np.array([0.2]), "length": np.array([2.0])}
    assert set(shipped_statistics().calibration.trusting(0.0).shares(sides)) == {"words", "phrases"}


def test_a_side_without_weight_does_not_count(made):
    assert made.sides == ("x", "meaning")
    assert made.trusting(0).sides == ("x",)


def test_shares_are_of_the_evidence_above_chance(made):
    sides = {"x": np.array([0.3]), "meaning": np.array([0.45])}
    assert made.shares(sides) == pytest.approx({"x": 2 / 3, "meaning": 1 / 3})
    assert made.shares({**sides, "meaning": np.array([0.1])}) == {"x": 1.0, "meaning": 0.0}


def test_where_nothing_is_above_chance_shares_are_of_what_there_is(made):
    shares = made.shares({"x": np.array([0.05]), "meaning": np.array([0.1])})
    x, meaning = 2 * math.log(0.15 / 0.1), math.log(0.15 / 0.05)
    assert shares == pytest.approx({"x": x / (x + meaning), "meaning": meaning / (x + meaning)})
    assert made.shares({"x": np.array([0.0]), "meaning": np.array([-0.2])}) == {"x": 0.0, "meaning": 0.0}


def test_likeness_is_the_share_of_a_texts_own_evidence_and_nothing_is_held_against_it(made):
    weighed = Calibration({**made.scales, "words": Scale(2.0, 0.1, 0.1)}, slope=0.5, bias=-1.0)
    words, meaning = math.log(2) / math.log(1.1 / 0.2), math.log(2) / math.log(1.05 / 0.25)
    sides = {"x": np.ones(4), "words": np.array([0.3, 0.3, 0.0, 1.0]), "meaning": np.array([0.45, 0.0, 0.2, 1.0])}
    assert weighed.likeness(sides).tolist() == pytest.approx([(words + meaning) / 2, words / 2, 0.0, 1.0])


def test_it_comes_back_from_disk(made, tmp_path: Path):
    made.write(tmp_path / "calibration.json")
    assert Calibration.read(tmp_path / "calibration.json") == made


def test_a_new_side_counts_as_far_as_what_it_needs_is_known(made, monkeypatch):
    monkeypatch.setitem(BY_NAME, "x", Side("x", "x", 0.1, Comparison.length_correction, needs_titles=True))
    assert made.trusting(1.0, titles=0.25).scales["x"].weight == 0.5
    monkeypatch.setitem(BY_NAME, "x", Side("x", "x", 0.1, Comparison.length_correction, needs_language=True))
    assert made.trusting(0.25).scales["x"].weight == 0.5
