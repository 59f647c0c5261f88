"""Labelled pairs by their sides, and the curves that make their evidence a score and a probability."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from longmatch.default.calibration import Calibration, Scale
from longmatch.default.probability import Curve, Probability
from longmatch.lab.default.calibration import (
    fit_platt,
    fit_probability,
    fit_score,
    probabilities,
    shorter,
    write_calibration,
)
from longmatch.lab.default.features import PASSAGE_SIDES, PairSides
from longmatch.lab.default.report import write_report
from longmatch.lab.evaluation.measures import calibration_error


def drawn(slope: float, bias: float, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Evidence, and labels that come true as often as the curve says."""
    rng = np.random.default_rng(seed)
    evidence = rng.normal(2, 3, count)
    return evidence, rng.random(count) < 1 / (1 + np.exp(-(slope * evidence + bias)))


def test_the_curve_that_made_the_labels_is_found() -> None:
    evidence, labels = drawn(1.3, -2.0, 40_000, seed=0)
    assert fit_platt([evidence], [labels]) == pytest.approx((1.3, -2.0), abs=0.08)


def test_every_set_counts_alike_however_many_pairs_it_has() -> None:
    few, many = drawn(1.0, -3.0, 2_000, seed=1), drawn(1.0, 3.0, 20_000, seed=2)
    bias = fit_platt([few[0], many[0]], [few[1], many[1]])[1]
    again = fit_platt([few[0], *[many[0]] * 3], [few[1], *[many[1]] * 3])[1]
    repeated = fit_platt([np.tile(few[0], 10), many[0]], [np.tile(few[1], 10), many[1]])[1]
    assert again > bias + 0.5
    assert repeated == pytest.approx(bias, abs=1e-3)


def test_chance_is_the_median_of_unrelated_pairs_and_the_score_comes_true() -> None:
    rng = np.random.default_rng(3)
    related = np.repeat([True, False], 3_000)
    words = np.where(related, rng.beta(4, 16, 6_000), rng.beta(2, 30, 6_000))
    unrelated = {"words": np.array([0.01, 0.02, 0.09]), "topic": np.array([-0.3, -0.2, 0.5])}
    pairs = PairSides({"words": words, "topic": rng.random(6_000)}, related, unrelated)
    made = fit_score([pairs], {"words": Scale(2.0, 0.01, 0.0), "topic": Scale(0.0, 0.05, 0.0)})
    assert made.sides == ("words",)
    assert (made.scales["words"].chance, made.scales["topic"].chance) == (0.02, 0.0)
    assert calibration_error(related, made.score({"words": words})) < 0.03


def pairs_of(likely: Probability, count: int, seed: int) -> PairSides:
    """Pairs of all lengths whose labels come true as often as this says."""
    rng = np.random.default_rng(seed)
    sides = {name: rng.beta(0.6, 6, count) for name in PASSAGE_SIDES}
    sides |= {"lengths": np.exp(rng.uniform(4, 10, count)), "query": np.exp(rng.uniform(4, 10, count))}
    labels = rng.random(count) < likely.of(sides, shorter(sides))
    unrelated = {name: np.full(3, scale.chance) for name, scale in likely.scales.items()}
    return PairSides(sides, labels, unrelated | {name: np.full(3, 1000.0) for name in ("lengths", "query")})


LIKELY = Probability(
    {"words": Scale(0.8, 0.01, 0.05), "phrases": Scale(1.5, 0.001, 0.01), "meaning": Scale(2.0, 0.03, 0.1)},
    Curve(500, 0.4, -1.0),
    Curve(5000, 1.0, -2.0),
)


def test_the_probability_that_made_the_labels_is_found() -> None:
    made = fit_probability([pairs_of(LIKELY, 20_000, seed=4)])
    assert {name: (s.floor, s.chance) for name, s in made.scales.items()} == {
        name: (s.floor, s.chance) for name, s in LIKELY.scales.items()
    }
    assert [s.weight for s in made.scales.values()] == pytest.approx([0.8, 1.5, 2.0], abs=0.15)
    assert (made.short.slope, made.short.bias) == pytest.approx((0.4, -1.0), abs=0.1)
    assert (made.long.slope, made.long.bias) == pytest.approx((1.0, -2.0), abs=0.15)
    unseen = pairs_of(LIKELY, 5_000, seed=5)
    assert calibration_error(unseen.labels, probabilities(made, unseen.labelled)) < 0.03


def test_no_side_speaks_against_a_pair_for_being_alike() -> None:
    pairs = pairs_of(LIKELY, 4_000, seed=6)
    misled = {**pairs.labelled, "words": np.where(pairs.labels, 0.01, 0.3)}
    assert fit_probability([replace(pairs, labelled=misled)]).scales["words"].weight == 0


def test_the_probability_counts_every_set_alike() -> None:
    few, many = (pairs_of(replace(LIKELY, long=Curve(5000, 1.0, b)), n, 7) for b, n in ((-4.0, 500), (0.0, 5_000)))
    tenfold = PairSides(
        {name: np.tile(x, 10) for name, x in few.labelled.items()}, np.tile(few.labels, 10), few.unrelated
    )
    assert fit_probability([few, many]).long.bias == pytest.approx(fit_probability([tenfold, many]).long.bias, abs=0.01)


def test_score_and_probability_are_learnt_from_training_pairs_alone_and_reported_on_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights = {name: {"weight": 1.0, "floor": 0.02} for name in PASSAGE_SIDES}
    (tmp_path / "weights.json").write_text(json.dumps(weights))
    learnt = [pairs_of(LIKELY, 1_000, seed) for seed in (8, 9)]
    for name, pairs in zip(("first", "second"), learnt, strict=True):
        pairs.write(tmp_path / f"{name}-train-pairs.npz")
        replace(pairs, labels=~pairs.labels).write(tmp_path / f"{name}-validation-pairs.npz")
    write_calibration(tmp_path)
    write_report(tmp_path)
    assert set(Calibration.read(tmp_path / "calibration.json").scales) == set(PASSAGE_SIDES)
    read = [PairSides.read(tmp_path / f"{name}-train-pairs.npz") for name in ("first", "second")]
    assert Probability.read(tmp_path / "probability.json") == fit_probability(read)
    printed = capsys.readouterr().out
    lines = [line.split("│") for line in printed.splitlines() if "train" in line or "valid" in line]
    errors = {cells[1].strip(): float(cells[5]) for cells in lines}
    assert errors["all, train"] < 0.05
    assert errors["all, validation"] > 0.4  # there every label is the wrong one
    assert set(errors) == {
        f"{name}{split}" for name in ("first-", "second-", "all, ") for split in ("train", "validation")
    }
    assert "all, validation" in (tmp_path / "report.txt").read_text()
