"""Ranking measures: worked by hand, and on random runs with ties and missing queries against other implementations.

One is written here as its definition reads; ir-measures is another, where there is one for the machine.
"""

import math
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from longmatch.errors import LongmatchError
from longmatch.lab.evaluation.measures import (
    PairMeasure,
    PairPredictions,
    best_threshold,
    calibration_error,
    evaluate_run,
    parse,
    parse_all,
    rank_query,
)
from tests.effort import tried

IDS = [f"d{i}" for i in range(12)]
Relevance = list[int]  # grades in the order of a ranking
rows = st.lists(st.tuples(st.booleans(), st.integers(0, 6), st.integers(0, 3)), min_size=2, max_size=40).filter(
    lambda found: {label for label, _, weight in found if weight} == {True, False}
)


def ndcg(ranked: Relevance, judged: Relevance, depth: int = 1000) -> float:
    def gain(grades: Relevance) -> float:
        return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades[:depth], 1))

    return gain(ranked) / gain(sorted(judged, reverse=True)) if any(judged) else 0.0


def reciprocal_rank(ranked: Relevance, judged: Relevance) -> float:
    return next((1 / rank for rank, grade in enumerate(ranked, 1) if grade), 0.0)


def average_precision(ranked: Relevance, judged: Relevance, depth: int = 1000) -> float:
    hits = [rank for rank, grade in enumerate(ranked[:depth], 1) if grade]
    return sum(number / rank for number, rank in enumerate(hits, 1)) / max(1, sum(map(bool, judged)))


def recall(ranked: Relevance, judged: Relevance, depth: int) -> float:
    return sum(map(bool, ranked[:depth])) / max(1, sum(map(bool, judged)))


PLAIN: dict[str, Callable[[Relevance, Relevance], float]] = {
    "nDCG@10": lambda ranked, judged: ndcg(ranked, judged, 10),
    "nDCG@3": lambda ranked, judged: ndcg(ranked, judged, 3),
    "nDCG": ndcg,
    "MRR": reciprocal_rank,
    "MAP": average_precision,
    "MAP@4": lambda ranked, judged: average_precision(ranked, judged, 4),
    "recall@5": lambda ranked, judged: recall(ranked, judged, 5),
    "HR@5": lambda ranked, judged: recall(ranked, judged, 5),
}

queries = st.lists(st.sampled_from(["q1", "q2", "q3", "q4"]), min_size=1, unique=True)
grades = st.dictionaries(st.sampled_from(IDS), st.integers(0, 3), min_size=1)
scores = st.dictionaries(st.sampled_from(IDS), st.integers(0, 4).map(float), min_size=1)  # few values: many ties


@st.composite
def judged_runs(draw: st.DrawFn) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    judged = draw(queries)
    run = {query: draw(scores) for query in draw(st.lists(st.sampled_from(judged), unique=True))}
    return {query: draw(grades) for query in judged}, run


@given(judged_runs())
@settings(deadline=None, max_examples=tried(50))
def test_measures_equal_their_definitions_with_ties_and_missing_queries(
    both: tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]],
) -> None:
    qrels, run = both
    for name, plain in PLAIN.items():
        values = []
        for query, judged in qrels.items():
            found = run.get(query, {})
            order = sorted(found, key=lambda id: (found[id], id), reverse=True)
            values.append(plain([judged.get(id, 0) for id in order], list(judged.values())))
        assert evaluate_run(parse(name), qrels, run) == pytest.approx(sum(values) / len(values), abs=1e-9), name


@pytest.mark.skipif(find_spec("ir_measures") is None, reason="ir-measures has no trec_eval for this machine")
@given(judged_runs())
@settings(deadline=None, max_examples=tried(50))
def test_measures_equal_ir_measures_with_ties_and_missing_queries(
    both: tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]],
) -> None:
    import ir_measures
    from ir_measures import AP, RR, R, nDCG

    qrels, run = both
    theirs = {"nDCG@10": nDCG @ 10, "nDCG@3": nDCG @ 3, "nDCG": nDCG, "MRR": RR, "MAP": AP, "MAP@4": AP @ 4}
    theirs |= {"recall@5": R @ 5, "HR@5": R @ 5}
    found = ir_measures.calc_aggregate(list(theirs.values()), qrels, run)
    for name, other in theirs.items():
        assert evaluate_run(parse(name), qrels, run) == pytest.approx(found[other], abs=1e-9), name


RUN = {"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.6, "e": 0.5}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MRR", 1 / 2),  # b stands second
        ("mrr_released", 1.0),  # ranks 1 and 2 are both 1
        ("MPR", ((1 - 1 / 5) + (1 - 3 / 5)) / 2),  # ranks 2 and 4 of five
        ("HR@2", 1 / 2),
        ("recall@4", 1.0),
        ("MAP", (1 / 2 + 2 / 4) / 2),
        ("nDCG@10", (1 / math.log2(3) + 2 / math.log2(5)) / (2 / math.log2(2) + 1 / math.log2(3))),
    ],
)
def test_values_worked_by_hand(name: str, value: float) -> None:
    assert parse(name)(rank_query({"b": 1, "d": 2, "a": 0}, RUN)) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(("rank", "value"), [(1, 1.0), (2, 1.0), (3, 1 / 2), (5, 1 / 4)])
def test_mrr_released_counts_one_rank_less_from_the_second_on(rank: int, value: float) -> None:
    assert parse("mrr_released")(rank_query({"abcde"[rank - 1]: 1}, RUN)) == value


def test_equal_scores_put_the_later_id_first_whatever_the_order_of_the_run() -> None:
    for ids in (["a", "b"], ["b", "a"]):
        assert rank_query({"a": 1}, dict.fromkeys(ids, 0.5)).ranks.tolist() == [2]


def test_a_score_that_is_no_number_ranks_last() -> None:
    assert rank_query({"z": 1}, {"z": math.nan, "a": -5.0}).ranks.tolist() == [2]


def test_an_answer_that_is_not_ranked_counts_as_not_found() -> None:
    assert parse("MPR")(rank_query({"a": 1, "x": 1}, RUN)) == 0.5


@pytest.mark.parametrize("name", ["HR", "nDCG@0", "nDCG@ten", "F1@3", "speed"])
def test_an_unknown_measure_is_said_to_be(name: str) -> None:
    with pytest.raises(LongmatchError, match="There is no measure"):
        parse(name)


def test_names_are_read_back_as_they_are_written() -> None:
    names = ["nDCG@10", "MRR", "MPR", "HR@10", "recall@100", "MAP", "mrr_released", "F1", "roc_auc", "recall"]
    assert [measure.name for measure in parse_all(",".join(names))] == names


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
