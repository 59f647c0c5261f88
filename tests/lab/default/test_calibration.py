"""Labelled pairs by their sides, and the levels and curves that make their evidence a score and a probability."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmatch.default.calibration import SHARE, Calibration, Probability, Scale
from longmatch.default.sides import BY_NAME
from longmatch.default.unrelated import USUAL_WORDS, Level, Prior
from longmatch.lab.default.calibration import (
    BETWEEN,
    LIKELY_SIDES,
    NAMED_LEVEL,
    STEEPNESS,
    area_under_curve,
    belief,
    believability,
    fit_platt,
    fit_prior,
    fit_probability,
    fit_score,
    left_out,
    lone_probabilities,
    mixed,
    mixed_labels,
    pair_weights,
    unrelated_of,
    write_calibration,
)
from longmatch.lab.default.features import PASSAGE_SIDES, PairSides, SideValues
from longmatch.lab.default.pipeline import write_report
from longmatch.lab.evaluation.measures import calibration_error

LEVELS = {
    "words": Level(-2.5, 0.3),
    "phrases": Level(-4.0, 0.4),
    "meaning": Level(0.06, 0.03),
    "title": Level(-1.5, 0.35),
    "query_title": Level(-1.5, 0.35),
}
SLOPES = {"words": (0.3, -0.1), "meaning": (-0.01, 0.0)}
ABOVE = {"words": 1.0, "phrases": 2.0, "meaning": 1.5}  # spreads by which related pairs exceed random ones


def drawn_sides(
    count: int,
    rng: np.random.Generator,
    above: Mapping[str, float],
    shift: float = 0.0,
    slopes: Mapping[str, tuple[float, float]] = MappingProxyType({}),
) -> SideValues:
    """Pairs whose similarities exceed those of random ones by so many spreads; `shift` spreads moves all of a set."""
    words = np.exp(rng.uniform(6.5, 9, (2, count)))
    logs = np.log(np.sort(words, axis=0) / USUAL_WORDS)
    sides: SideValues = {"query": words[0], "lengths": words[1], "named": np.zeros(count)}
    for side, level in LEVELS.items():
        surprise = rng.normal(above.get(side, 0.0), 1.0, count)
        value = level.mean + level.spread * (shift + surprise) + np.array(slopes.get(side, (0.0, 0.0))) @ logs
        sides[side] = value if BY_NAME[side].linear else np.maximum(0.0, np.exp(value) - BY_NAME[side].floor)
    return sides


def drawn(
    related: int, seed: int, above: Mapping[str, float] = ABOVE, shift: float = 0.0, titles: float = 1.0
) -> PairSides:
    """Related pairs, half as many labelled as unrelated, and three times as many random ones."""
    rng = np.random.default_rng(seed)
    found, refused = drawn_sides(related, rng, above, shift), drawn_sides(related // 2, rng, {}, shift)
    labelled = {side: np.append(found[side], refused[side]) for side in found}
    lone = {
        f"{knowledge} {name}": {
            **drawn_sides(related, rng, above if name == "related" else {}, shift + more),
            "knowledge": np.full(related, float(knowledge == "known")),
        }
        for knowledge, more in (("known", -0.5), ("unknown", 1.0))
        for name in ("related", "random")
    }
    labels = np.arange(len(labelled["words"])) < related
    return PairSides(labelled, labels, drawn_sides(3 * related, rng, {}, shift), (1.0, titles), lone)


def curve(slope: float, bias: float, count: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Evidence, labels that come true as often as the curve says, and the weight of each."""
    rng = np.random.default_rng(seed)
    evidence = rng.normal(2, 3, count)
    labels = rng.random(count) < 1 / (1 + np.exp(-(slope * evidence + bias)))
    return evidence, labels, np.full(count, 1 / count)


def test_the_curve_that_made_the_labels_is_found() -> None:
    evidence, labels, weights = curve(1.3, -2.0, 40_000, seed=0)
    assert fit_platt([evidence], [labels], [weights]) == pytest.approx((1.3, -2.0), abs=0.08)


def test_a_tenth_of_the_pairs_counts_as_related_however_many_are() -> None:
    for related in (1, 50, 99):
        labels = np.arange(100) < related
        weights = pair_weights(labels)
        assert weights.sum() == pytest.approx(1) and weights[labels].sum() == pytest.approx(SHARE)


@pytest.fixture(scope="module")
def three() -> list[PairSides]:
    """Sets that share more or less when they are unrelated."""
    return [drawn(2_000, seed, shift=shift) for seed, shift in enumerate((-1.0, 0.0, 1.0))]


@pytest.fixture(scope="module")
def prior(three: list[PairSides]) -> Prior:
    return fit_prior(three)


def test_levels_are_those_of_lone_pairs_with_the_spread_within_and_between_sets(prior: Prior) -> None:
    between = BETWEEN * np.var([-1.0, 0.0, 1.0])
    for side in PASSAGE_SIDES:
        mean, spread = LEVELS[side].mean, LEVELS[side].spread
        for levels, more in ((prior.known, -0.5), (prior.unknown, 1.0)):
            assert levels[side].mean == pytest.approx(mean + more * spread, abs=0.1 * spread)
            assert levels[side].spread == pytest.approx(spread * np.sqrt(1 + between), rel=0.05)
    assert prior.known["title"] == prior.known["query_title"] == prior.unknown["title"]
    assert prior.known["title"].mean == pytest.approx(LEVELS["title"].mean, abs=0.05)
    assert prior.known["named"] == NAMED_LEVEL


def test_without_sets_of_general_prose_known_kinds_stand_in_for_it() -> None:
    known, prose = drawn(500, 1), drawn(500, 2, shift=-1.0)
    as_prose = {name: {**sides, "knowledge": np.zeros_like(sides["words"])} for name, sides in prose.lone.items()}
    both = fit_prior([known, replace(prose, lone=as_prose)])
    alone, prose_alone = fit_prior([known]), fit_prior([prose])
    for side in PASSAGE_SIDES:
        spread = LEVELS[side].spread
        assert both.known[side].mean == pytest.approx(alone.known[side].mean, abs=0.1 * spread)
        assert both.general[side].mean == pytest.approx(prose_alone.known[side].mean, abs=0.1 * spread)
        assert both.unknown[side].mean == pytest.approx(alone.unknown[side].mean, abs=0.1 * spread)
    assert alone.general == alone.known


def test_how_lengths_move_a_side_is_found_within_the_sets() -> None:
    rng = np.random.default_rng(3)
    sets = [replace(drawn(100, 1), unrelated=drawn_sides(6_000, rng, {}, shift, SLOPES)) for shift in (-2.0, 2.0)]
    found = fit_prior(sets).slopes
    for side in PASSAGE_SIDES:
        expected = STEEPNESS * np.array(SLOPES.get(side, (0.0, 0.0)))
        assert found[side] == pytest.approx(expected, abs=0.1 * LEVELS[side].spread)


def test_a_sets_own_random_pairs_are_its_level(three: list[PairSides], prior: Prior) -> None:
    for pairs, shift in zip(three, (-1.0, 0.0, 1.0), strict=True):
        found = unrelated_of(pairs, prior)
        assert found.doubt == 0
        for side, level in LEVELS.items():
            mean = level.mean + shift * level.spread
            assert found.levels[side].mean == pytest.approx(mean, abs=0.1 * level.spread)
            assert found.levels[side].spread == pytest.approx(level.spread, rel=0.06)


def test_the_weights_are_those_of_the_likelihood_ratio(three: list[PairSides], prior: Prior) -> None:
    made = fit_probability(three, prior)  # of two normal distributions, ABOVE apart; the decay makes them less
    assert set(made.plain.weights) == set(LIKELY_SIDES)
    assert [made.plain.weights[side] for side in PASSAGE_SIDES] == pytest.approx(list(ABOVE.values()), rel=0.15)
    expected = np.log(SHARE / (1 - SHARE)) - sum(x * x for x in ABOVE.values()) / 2
    assert made.plain.bias == pytest.approx(expected, abs=0.8)
    assert made.plain.length == pytest.approx(0.0, abs=0.2)
    assert made.titled.weights["title"] == made.titled.weights["query_title"] < 0.05


def test_it_comes_true_on_a_set_that_it_was_not_learnt_from(three: list[PairSides], prior: Prior) -> None:
    unseen = drawn(2_000, seed=9, shift=2.0)
    found = belief(fit_probability(three, prior), prior, unseen)
    assert found["calibration error"] < 0.02
    assert found["AUC"] > 0.97
    assert found["related, median"] > 0.7 and found["random, median"] < 0.02


def test_titles_count_where_they_describe_their_documents_and_weigh_the_same_both_ways() -> None:
    above = {"words": 1.0, "title": 1.0, "query_title": 1.0}
    described, named = (drawn(1_500, 4, above, titles=trust) for trust in (1.0, 0.0))
    one, other = (fit_probability([pairs], fit_prior([pairs])) for pairs in (described, named))
    weights = one.titled.weights
    assert weights["title"] == weights["query_title"] == pytest.approx(1.0, abs=0.15)
    assert not {"title", "query_title"} & {*one.plain.weights, *other.plain.weights}
    assert other.titled == other.plain


def test_no_side_speaks_against_a_pair_for_being_alike() -> None:
    pairs = drawn(1_000, 5, {"words": -1.0, "phrases": 1.0})
    weights = fit_probability([pairs], fit_prior([pairs])).plain.weights
    assert weights["words"] == 0 and min(weights.values()) >= 0


def tenfold(pairs: PairSides) -> PairSides:
    tables = ({side: np.tile(x, 10) for side, x in table.items()} for table in (pairs.labelled, pairs.unrelated))
    labelled, unrelated = tables
    return replace(pairs, labelled=labelled, unrelated=unrelated, labels=np.tile(pairs.labels, 10))


def test_every_set_counts_alike_however_many_pairs_it_has() -> None:
    few, many = drawn(300, 6, {"words": 2.0}), drawn(1_000, 7, {"meaning": 2.0})
    prior = fit_prior([few, many])
    once, often = (fit_probability([pairs, many], prior) for pairs in (few, tenfold(few)))
    assert often.plain.weights == pytest.approx(once.plain.weights, abs=0.02)
    scales = {name: Scale(1.0, BY_NAME[name].floor, 0.0) for name in PASSAGE_SIDES}
    once, often = (fit_score([pairs, many], scales, prior) for pairs in (few, tenfold(few)))
    assert (once.slope, once.bias) == pytest.approx((often.slope, often.bias), abs=0.02)


def test_evidence_is_counted_from_the_levels_and_the_score_comes_true(three: list[PairSides], prior: Prior) -> None:
    weights = {name: Scale(weight, BY_NAME[name].floor, 0.0) for name, weight in (("words", 1.0), ("title", 0.0))}
    made = fit_score(three, weights, prior)
    assert made.sides == ("words",)
    expected = np.exp(prior.known["words"].mean) - BY_NAME["words"].floor
    assert made.scales["words"].chance == pytest.approx(expected, abs=1e-4)
    for pairs in three:
        values, labels = mixed(pairs), mixed_labels(pairs)
        scores = made.against(unrelated_of(pairs, prior)).score({"words": values["words"]})
        assert calibration_error(labels, scores, weights=pair_weights(labels)) < 0.03


def test_two_documents_of_an_unknown_kind_are_doubted(three: list[PairSides], prior: Prior) -> None:
    made, pairs = fit_probability(three, prior), three[1]
    sides = pairs.lone["unknown random"]
    (sure, no_doubt), (doubted, doubt) = (
        lone_probabilities(made, prior, {**sides, "kind_known": np.full_like(sides["words"], known)})
        for known in (1.0, 0.0)
    )
    assert (doubted <= sure + 1e-12).all() and doubted.mean() < sure.mean()
    assert not no_doubt.any() and doubt == pytest.approx(sure - doubted)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=20), st.lists(st.integers(0, 5), min_size=1, max_size=20))
def test_the_area_under_the_curve_is_the_share_of_pairs_in_order(related: list[int], random: list[int]) -> None:
    slow = np.mean([(a > b) + (a == b) / 2 for a in related for b in random])
    assert area_under_curve(np.array(related, dtype=float), np.array(random, dtype=float)) == pytest.approx(slow)


def test_a_set_that_is_left_out_is_not_learnt_from(three: list[PairSides]) -> None:
    sets = dict(zip("abc", three, strict=True))
    made, prior = left_out(sets, "b")
    others = [three[0], three[2]]
    assert prior == fit_prior(others) and made == fit_probability(others, prior)


def test_all_is_learnt_from_training_pairs_alone_and_reported_on_test_pairs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights = {name: {"weight": 1.0, "floor": BY_NAME[name].floor} for name in PASSAGE_SIDES}
    (tmp_path / "weights.json").write_text(json.dumps(weights))
    for seed, name in enumerate(("first", "second", "third")):
        pairs = drawn(300, seed)
        pairs.write(tmp_path / f"{name}-train-pairs.npz")
        pairs.write(tmp_path / f"{name}-test-pairs.npz")
    crossed = replace(pairs, labelled=drawn(300, 8, {}).labelled)  # its related pairs are random ones
    crossed.write(tmp_path / "third-test-pairs.npz")
    write_calibration(tmp_path)
    write_report(tmp_path)
    read = [PairSides.read(path) for path in sorted(tmp_path.glob("*-train-pairs.npz"))]
    prior = fit_prior(read)
    assert Prior.read(tmp_path / "unrelated.json") == prior
    assert Probability.read(tmp_path / "probability.json") == fit_probability(read, prior)
    assert set(Calibration.read(tmp_path / "calibration.json").scales) == set(PASSAGE_SIDES)
    lines = [line.split("│") for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    rows = {cells[1].strip(): [float(cell) for cell in cells[2:-1]] for cells in lines}
    assert set(rows) == {"first", "second", "third", "mean"}
    related, random, _, area, error = rows["first"]
    assert related > 0.7 and random < 0.02 and area > 0.95 and error < 0.03
    assert rows["third"][3] == pytest.approx(0.5, abs=0.05) and rows["third"][4] > 0.05
    assert "learnt without the set" in (tmp_path / "report.txt").read_text()


def test_believability_worked_by_hand() -> None:
    found = believability(np.array([0.9, 0.7, 0.7]), np.array([0.1, 0.1, 0.1, 0.8]))
    assert found["related, median"] == 0.7 and found["random, median"] == 0.1
    assert found["AUC"] == pytest.approx((4 + 3 + 3) / 12)
    related, random = SHARE / 3, (1 - SHARE) / 4  # what a pair of each weighs
    wrong = random * (3 * 0.1 + 0.8) + related * (2 * 0.3 + 0.1)
    assert found["calibration error"] == pytest.approx(wrong)
