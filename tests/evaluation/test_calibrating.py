"""Labelled pairs by their sides, and the curve that makes their evidence a probability."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from longmatch.datasets import DataFolder
from longmatch.evaluation.calibrating import PairSides, calibrated, pair_sides, platt
from longmatch.evaluation.corpus import Corpus
from longmatch.evaluation.encodings.store import Store
from longmatch.evaluation.measures import calibration_error
from longmatch.evaluation.scoring.sides import SIDES, SideScorer
from longmatch.matching.calibration import Scale

from ..library.tiny import tiny_matcher


def drawn(slope: float, bias: float, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Evidence, and labels that come true as often as the curve says."""
    rng = np.random.default_rng(seed)
    evidence = rng.normal(2, 3, count)
    return evidence, rng.random(count) < 1 / (1 + np.exp(-(slope * evidence + bias)))


def test_the_curve_that_made_the_labels_is_found() -> None:
    evidence, labels = drawn(1.3, -2.0, 40_000, seed=0)
    assert platt([evidence], [labels]) == pytest.approx((1.3, -2.0), abs=0.08)


def test_every_set_counts_alike_however_many_pairs_it_has() -> None:
    few, many = drawn(1.0, -3.0, 2_000, seed=1), drawn(1.0, 3.0, 20_000, seed=2)
    bias = platt([few[0], many[0]], [few[1], many[1]])[1]
    again = platt([few[0], *[many[0]] * 3], [few[1], *[many[1]] * 3])[1]
    repeated = platt([np.tile(few[0], 10), many[0]], [np.tile(few[1], 10), many[1]])[1]
    assert again > bias + 0.5
    assert repeated == pytest.approx(bias, abs=1e-3)


def test_chance_is_the_median_of_unrelated_pairs_and_the_score_comes_true() -> None:
    rng = np.random.default_rng(3)
    related = np.repeat([True, False], 3_000)
    words = np.where(related, rng.beta(4, 16, 6_000), rng.beta(2, 30, 6_000))
    unrelated = {"words": np.array([0.01, 0.02, 0.09]), "topic": np.array([-0.3, -0.2, 0.5])}
    pairs = PairSides({"words": words, "topic": rng.random(6_000)}, related, unrelated)
    made = calibrated([pairs], {"words": Scale(2.0, 0.01, 0.0), "topic": Scale(0.0, 0.05, 0.0)})
    assert made.sides == ("words",)
    assert (made.scales["words"].chance, made.scales["topic"].chance) == (0.02, 0.0)
    assert calibration_error(related, made.score({"words": words})) < 0.03


def test_the_sides_of_labelled_pairs_are_the_collections_and_no_labelled_pair_is_drawn_as_unrelated(
    make_data: Callable[..., Path], tiny_bert: Path, tmp_path: Path
) -> None:
    labels = [("train", "boats", "ships", 1), ("train", "boats", "bread", 0), ("train", "bread", "cakes", 1)]
    corpus = Corpus(DataFolder(make_data(pairs=[*labels, ("validation", "stars", "cakes", 0)])))
    matcher = tiny_matcher(tiny_bert)
    scorer = SideScorer(matcher)
    scorer.open(Store(tmp_path / "layers", corpus).build(scorer.layers), corpus)
    found = pair_sides(corpus, scorer, "train")
    assert sorted(found.labels.tolist()) == [False, True, True]
    assert len(found.unrelated["words"]) == 2 + 3  # boats: cakes, stars; bread: boats, ships, stars
    encodings = matcher.encode(list(corpus.folder.documents()))
    every = matcher.collect(encodings).sides(encodings[corpus.number["boats"]], SIDES)
    ships = corpus.number["ships"]
    for side in SIDES:
        assert np.isclose(found.labelled[side], every[side][ships], atol=2e-3).any(), side
    assert len(pair_sides(corpus, scorer, "train", sources=1).labels) in (1, 2)
