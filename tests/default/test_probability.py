"""How likely two documents belong together."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmatch.default.calibration import CERTAIN, SHARE, Curve, Probability
from longmatch.default.sides import BY_NAME, NAMES
from longmatch.default.statistics import shipped_statistics
from longmatch.default.unrelated import USUAL_WORDS, Known, Level, Unrelated

SHIPPED = shipped_statistics()
SIDES = SHIPPED.probability.sides
SHARES = st.floats(0.0, 0.99)
LENGTHS = st.sampled_from([1, 30, 500, 1500, 5000, 60_000])
TRUST = st.sampled_from([0.0, 0.5, 1.0])

MADE = Probability(
    plain=Curve({"words": 2.0, "meaning": 1.0}, length=0.5, bias=-3.0),
    titled=Curve({"words": 1.0, "meaning": 0.0, "title": 0.75, "query_title": 0.75}, length=0.0, bias=-2.0),
)
TITLES = {"title": Level(-2.5, 0.5), "query_title": Level(-2.5, 0.5)}
UNRELATED = Unrelated(
    {"words": Level(-3.0, 0.5), "meaning": Level(0.05, 0.02), **TITLES}, slopes={"words": (0.5, -0.25)}
)


def told(
    sides: dict[str, float],
    words: tuple[float, float] = (USUAL_WORDS, USUAL_WORDS),
    trust: tuple[float, float] = (1.0, 0.0),
    probability: Probability = MADE,
    unrelated: Unrelated = UNRELATED,
) -> float:
    values = {name: np.array([x]) for name, x in sides.items()}
    first, second = (np.array([float(number)]) for number in words)
    return float(probability.of(values, (first, second), unrelated, trust)[0])


def at(side: str, spreads: float) -> float:
    """The similarity so many spreads above what is expected of documents of usual length."""
    level = UNRELATED.levels[side]
    value = level.mean + spreads * level.spread
    return value if BY_NAME[side].linear else math.exp(value) - BY_NAME[side].floor


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def test_it_is_worked_by_hand() -> None:
    assert told({"words": at("words", 1.5), "meaning": at("meaning", 2.0)}) == pytest.approx(sigmoid(-3 + 3 + 2))


def test_long_documents_are_expected_to_share_other_than_short_ones_and_count_for_more() -> None:
    expected = 1.5 + 0.25 * math.log(4) / 0.5  # spreads above what words of a longer document share
    found = told({"words": at("words", 1.5)}, (USUAL_WORDS, 4 * USUAL_WORDS))
    assert found == pytest.approx(sigmoid(-3 + 2 * expected + 0.5 * math.log(2)))


def test_a_side_left_out_counts_as_at_chance() -> None:
    assert told({"words": 0.3}) == pytest.approx(told({"words": 0.3, "meaning": at("meaning", 0.0)}))


@pytest.mark.parametrize("side", ["length", "named"])
def test_a_side_without_weight_does_not_count(side: str) -> None:
    assert told({"words": 0.3, side: 0.9}) == told({"words": 0.3})


def test_in_a_language_half_known_meaning_counts_half_and_words_for_the_other_half() -> None:
    sides = {"words": at("words", 1.0), "meaning": at("meaning", 3.0)}
    assert told(sides, trust=(0.5, 0.0)) == pytest.approx(sigmoid(-3 + 2.5 + 1.5))
    assert told(sides, trust=(0.0, 0.0)) == pytest.approx(sigmoid(-3 + 3))


def test_where_nothing_is_known_of_the_language_only_copies_are_told() -> None:
    foreign = replace(UNRELATED, ignorance=1.0)
    sides = {"words": at("words", 4.0), "phrases": 0.1}
    assert told(sides, unrelated=foreign) == pytest.approx(0.1 * told(sides) + 0.9 * SHARE)
    assert told({**sides, "phrases": 1.0}, unrelated=foreign) == pytest.approx(told({**sides, "phrases": 1.0}))
    half = replace(UNRELATED, ignorance=0.5)
    assert told(sides, unrelated=half) == pytest.approx(0.55 * told(sides) + 0.45 * SHARE)


def test_titles_count_as_far_as_they_describe_their_documents() -> None:
    sides = {"words": at("words", 1.0), "title": at("title", 2.0), "query_title": at("title", 1.0)}
    plain, titled = -3 + 2, -2 + 1 + 1.5 + 0.75
    for trust in (0.0, 0.25, 1.0):
        assert told(sides, trust=(1.0, trust)) == pytest.approx(sigmoid((1 - trust) * plain + trust * titled))


def turned(sides: dict[str, float]) -> dict[str, float]:
    """The sides of the second document and the first."""
    names = {"title": "query_title", "query_title": "title"}
    return {names.get(name, name): x for name, x in sides.items()}


@given(st.lists(SHARES, min_size=4, max_size=4), LENGTHS, LENGTHS)
def test_it_is_the_same_both_ways(values: list[float], first: int, second: int) -> None:
    sides = dict(zip(UNRELATED.levels, values, strict=True))
    assert told(sides, (first, second)) == pytest.approx(told(turned(sides), (second, first)))


@given(st.lists(SHARES, min_size=len(SIDES), max_size=len(SIDES)), LENGTHS, LENGTHS, TRUST)
def test_what_ships_is_the_same_both_ways(values: list[float], first: int, second: int, titles: float) -> None:
    sides, ships = dict(zip(SIDES, values, strict=True)), (SHIPPED.probability, SHIPPED.prior.unrelated(Known(0.6)))
    there = told(sides, (first, second), (1.0, titles), *ships)
    assert there == pytest.approx(told(turned(sides), (second, first), (1.0, titles), *ships))


@given(
    st.lists(SHARES, min_size=len(SIDES), max_size=len(SIDES)), st.sampled_from(SIDES), LENGTHS, LENGTHS, TRUST, TRUST
)
def test_what_ships_rises_with_every_side(
    values: list[float], raised: str, first: int, second: int, knowledge: float, titles: float
) -> None:
    before = dict(zip(SIDES, values, strict=True))
    after = {**before, raised: before[raised] + 0.01}
    ships = SHIPPED.probability, SHIPPED.prior.unrelated(Known(knowledge))
    lower, higher = (told(sides, (first, second), (1.0, titles), *ships) for sides in (before, after))
    assert 0 <= lower <= higher + 1e-12 <= 1 + 1e-12


@given(LENGTHS)
def test_a_copy_is_certain_whatever_the_collection_shares(words: int) -> None:
    alike = replace(
        UNRELATED, levels={**UNRELATED.levels, "phrases": Level(0.0, 0.5)}
    )  # all documents share all phrases
    copy, nearly = ({"words": 0.0, "meaning": 0.0, "phrases": shared} for shared in (1.0, 0.99))
    assert told(copy, (words, words), unrelated=alike) >= CERTAIN > told(nearly, (words, words), unrelated=alike)


def test_what_ships_weighs_known_sides_and_none_against() -> None:
    assert set(SIDES) <= set(NAMES)
    for curve in (SHIPPED.probability.plain, SHIPPED.probability.titled):
        assert min(curve.weights.values()) >= 0 and sum(curve.weights.values()) > 0


def test_it_comes_back_from_disk(tmp_path: Path) -> None:
    MADE.write(tmp_path / "probability.json")
    assert Probability.read(tmp_path / "probability.json") == MADE
