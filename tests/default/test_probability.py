"""How likely two documents belong together."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmatch.default.calibration import Scale
from longmatch.default.probability import Curve, Probability
from longmatch.default.statistics import shipped_statistics

SHIPPED = shipped_statistics().probability
SIDES = ("words", "phrases", "meaning")
SHARES = st.floats(0.0, 0.99)
LENGTHS = st.sampled_from([1, 30, 500, 1500, 5000, 60_000])


@pytest.fixture
def made() -> Probability:
    """Two sides: words from 0.1 up, meaning from 0.2 up."""
    scales = {"words": Scale(2.0, 0.1, 0.1), "meaning": Scale(1.0, 0.05, 0.2)}
    return Probability(scales, Curve(100, 0.5, -1.0), Curve(10_000, 1.0, -3.0))


def told(probability: Probability, sides: dict[str, float], words: float, language: float = 1.0) -> float:
    values = {name: np.array([x]) for name, x in sides.items()}
    return float(probability.of(values, np.array([words]), language)[0])


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


@pytest.mark.parametrize(
    ("words", "slope", "bias"),
    [(1, 0.5, -1.0), (100, 0.5, -1.0), (1000, 0.75, -2.0), (10_000, 1.0, -3.0), (90_000, 1.0, -3.0)],
)
def test_it_is_worked_by_hand_for_short_and_long_documents_and_between_them(made, words, slope, bias):
    evidence = 2 * math.log(0.4 / 0.2) + math.log(0.5 / 0.25)  # 3 ln 2
    found = told(made, {"words": 0.3, "meaning": 0.45}, words)
    assert found == pytest.approx(sigmoid(slope * evidence + bias))


def test_a_side_left_out_counts_as_at_chance(made):
    assert told(made, {"words": 0.3}, 100) == pytest.approx(told(made, {"words": 0.3, "meaning": 0.2}, 100))


def test_a_side_it_does_not_weigh_does_not_count(made):
    assert told(made, {"words": 0.3, "title": 0.9}, 100) == told(made, {"words": 0.3}, 100)


def test_in_a_language_half_known_meaning_counts_half_and_in_an_unknown_one_not_at_all(made):
    sides = {"words": 0.3, "meaning": 0.45}
    assert told(made, sides, 100, 0.5) == pytest.approx(sigmoid(0.5 * 2.5 * math.log(2) - 1))
    assert told(made, sides, 100, 0.0) == told(made, {"words": 0.3}, 100)


@given(st.lists(SHARES, min_size=3, max_size=3), st.sampled_from(SIDES), LENGTHS)
def test_what_ships_rises_with_every_side(values, raised, words):
    before = dict(zip(SIDES, values, strict=True))
    after = {**before, raised: before[raised] + 0.01}
    assert 0 < told(SHIPPED, before, words) <= told(SHIPPED, after, words) <= 1
    assert SHIPPED.scales[raised].weight > 0


@given(LENGTHS, st.sampled_from([0.0, 0.5, 1.0]))
def test_what_ships_is_nearly_sure_of_a_document_and_itself_in_any_language(words, language):
    assert told(SHIPPED, dict.fromkeys(SIDES, 1.0), words, language) > 0.95


@given(LENGTHS, st.sampled_from([0.0, 0.5, 1.0]))
def test_what_ships_tells_little_of_what_chance_gives(words, language):
    assert told(SHIPPED, {name: SHIPPED.scales[name].chance for name in SIDES}, words, language) < 0.2


def test_one_shared_name_does_not_make_two_short_texts_likely():
    assert told(SHIPPED, {"words": 0.17, "phrases": 0.012, "meaning": 0.19}, 40) < 0.7


def test_what_ships_has_no_side_that_differs_between_the_two_ways():
    assert set(SHIPPED.scales) == set(SIDES)


def test_it_comes_back_from_disk(made, tmp_path: Path):
    made.write(tmp_path / "probability.json")
    assert Probability.read(tmp_path / "probability.json") == made
