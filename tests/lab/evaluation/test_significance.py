"""Bootstrap intervals and paired tests."""

import numpy as np
import pytest
from scipy.stats import permutation_test, ttest_rel

from longmatch.lab.evaluation.measures import PairMeasure, PairPredictions, parse
from longmatch.lab.evaluation.significance import (
    Interval,
    bootstrap_means,
    bootstrap_pairs,
    compare_bootstraps,
    compare_queries,
)

RNG = np.random.default_rng(3)
VALUES = RNG.random(120)


def test_an_interval_holds_the_mean_and_is_as_wide_as_theory_says() -> None:
    interval = Interval.of(bootstrap_means(VALUES))
    assert interval.low < VALUES.mean() < interval.high
    assert interval.high - interval.low == pytest.approx(2 * 1.96 * VALUES.std() / np.sqrt(len(VALUES)), rel=0.08)


def test_the_same_seed_gives_the_same_interval() -> None:
    assert (bootstrap_means(VALUES, 5) == bootstrap_means(VALUES, 5)).all()
    assert (bootstrap_means(VALUES, 5) != bootstrap_means(VALUES, 6)).any()


def test_the_randomisation_test_is_scipys_and_the_t_test_too() -> None:
    mine, theirs = RNG.random(12), RNG.random(12) - 0.2
    exact = permutation_test(
        (mine, theirs), lambda x, y, axis: (x - y).mean(axis=axis), permutation_type="samples", vectorized=True
    )
    found = compare_queries(mine, theirs)
    assert found.p == pytest.approx(exact.pvalue, abs=0.015)
    assert found.p_t == pytest.approx(ttest_rel(mine, theirs).pvalue)
    assert found.difference == pytest.approx(mine.mean() - theirs.mean())


def test_a_clear_gain_is_significant_and_noise_is_not() -> None:
    assert compare_queries(VALUES + 0.1 + 0.01 * RNG.random(120), VALUES).significant
    assert not compare_queries(VALUES + RNG.choice([-0.1, 0.1], 120), VALUES).significant


def measure() -> PairMeasure:
    found = parse("average_precision")
    assert isinstance(found, PairMeasure)
    return found


def test_pairs_of_one_source_are_drawn_together() -> None:
    """With one source there is nothing to draw, however many pairs it has."""
    labels, scores = RNG.random(50) < 0.5, RNG.random(50)
    drawn = bootstrap_pairs(measure(), PairPredictions(labels, scores), ["a"] * 50)
    assert np.ptp(drawn) == 0
    assert drawn[0] == pytest.approx(measure()(PairPredictions(labels, scores)))


def test_two_rows_are_compared_on_the_same_draws() -> None:
    labels = RNG.random(300) < 0.5
    good, bad = labels + RNG.normal(0, 0.5, 300), labels + RNG.normal(0, 2.0, 300)
    sources = [str(i // 3) for i in range(300)]
    drawn = [bootstrap_pairs(measure(), PairPredictions(labels, scores), sources) for scores in (good, bad)]
    assert compare_bootstraps(0.1, *drawn).significant
    assert compare_bootstraps(0.0, drawn[0], drawn[0]).p == 1.0


@pytest.mark.parametrize("name", ["F1", "accuracy", "precision", "recall", "average_precision", "roc_auc"])
def test_a_bootstrap_over_documents_is_the_measure_of_the_pairs_drawn(name: str) -> None:
    measure = parse(name)
    assert isinstance(measure, PairMeasure)
    sources = [f"s{n % 7}" for n in range(40)]
    rng = np.random.default_rng(1)
    verdicts = PairPredictions(rng.random(40) < 0.5, rng.integers(0, 9, 40) / 9, 0.5)
    draws = np.random.default_rng(4).multinomial(7, np.full(7, 1 / 7), size=3)
    found = bootstrap_pairs(measure, verdicts, sources, seed=4)
    for counts, value in zip(draws, found, strict=False):
        chosen = np.concatenate([[n] * counts[n % 7] for n in range(40)]).astype(int)
        again = PairPredictions(verdicts.labels[chosen], verdicts.scores[chosen], 0.5)
        assert value == pytest.approx(measure(again), abs=1e-5)
