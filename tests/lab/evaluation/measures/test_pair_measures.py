"""Pair measures against scikit-learn, plain and weighted, and the threshold against trying every one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from longmatch.lab.evaluation.measures import PairPredictions, best_threshold, calibration_error, parse
from longmatch.lab.evaluation.measures.pairs import PairMeasure
from tests.effort import tried

rows = st.lists(st.tuples(st.booleans(), st.integers(0, 6), st.integers(0, 3)), min_size=2, max_size=40).filter(
    lambda found: {label for label, _, weight in found if weight} == {True, False}
)


def arrays(found: list[tuple[bool, int, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    labels, scores, weights = zip(*found, strict=True)
    return np.array(labels), np.array(scores) / 6.0, np.array(weights, dtype=np.float64)


def value(name: str, verdicts: PairPredictions, weights: np.ndarray) -> float:
    measure = parse(name)
    assert isinstance(measure, PairMeasure)
    return float(measure.weighted(verdicts, weights[None])[0])


@given(rows, st.integers(0, 7))
@settings(deadline=None, max_examples=tried(30))
def test_pair_measures_equal_scikit_learn(found: list[tuple[bool, int, int]], cut: int) -> None:
    labels, scores, weights = arrays(found)
    threshold = cut / 6.0
    said = scores >= threshold
    theirs = {
        "accuracy": metrics.accuracy_score(labels, said, sample_weight=weights),
        "precision": metrics.precision_score(labels, said, sample_weight=weights, zero_division=0),
        "recall": metrics.recall_score(labels, said, sample_weight=weights, zero_division=0),
        "F1": metrics.f1_score(labels, said, sample_weight=weights, zero_division=0),
        "average_precision": metrics.average_precision_score(labels, scores, sample_weight=weights),
        "roc_auc": metrics.roc_auc_score(labels, scores, sample_weight=weights),
    }
    for name, other in theirs.items():
        assert value(name, PairPredictions(labels, scores, threshold), weights) == pytest.approx(other, abs=1e-9), name


@given(rows)
@settings(deadline=None, max_examples=tried(25))
def test_no_threshold_has_a_better_f1_than_the_chosen_one(found: list[tuple[bool, int, int]]) -> None:
    labels, scores, _ = arrays(found)
    chosen = parse("F1")(PairPredictions(labels, scores, best_threshold(labels, scores)))  # type: ignore[arg-type]
    others = [metrics.f1_score(labels, scores >= cut, zero_division=0) for cut in np.linspace(-0.1, 1.1, 15)]
    assert chosen == pytest.approx(max(others), abs=1e-9)


def test_pairs_that_could_not_be_scored_stay_under_the_threshold() -> None:
    labels, scores = np.array([True, True, False]), np.array([0.9, -np.inf, -np.inf])
    assert best_threshold(labels, scores) == 0.9


def test_the_calibration_error_worked_by_hand() -> None:
    labels = np.array([True, False, True, False, True])
    scores = np.array([0.92, 0.98, 0.15, 0.11, 1.0])
    # bin 0.1 to 0.2: said 0.26, came true 1 of 2; bin 0.9 to 1: said 2.90, came true 2 of 3
    assert calibration_error(labels, scores) == pytest.approx((0.74 + 0.90) / 5)


def test_scores_that_come_true_as_often_as_they_say_have_no_calibration_error() -> None:
    assert calibration_error(np.array([True, False, False, False]), np.full(4, 0.25)) == 0
    assert calibration_error(np.array([True, False]), np.array([1.0, -np.inf])) == 0


def test_pairs_that_weigh_more_count_more_in_the_calibration_error() -> None:
    labels, scores = np.array([True, False, True]), np.array([0.92, 0.98, 0.15])
    again = np.array([0, 0, 1, 2, 2, 2])
    weighed = calibration_error(labels, scores, weights=np.array([2.0, 1.0, 3.0]))
    assert weighed == pytest.approx(calibration_error(labels[again], scores[again]))
