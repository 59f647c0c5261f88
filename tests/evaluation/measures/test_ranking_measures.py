"""Ranking measures: worked by hand, and against ir-measures on random runs with ties and missing queries."""

import math

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmatch.errors import LongmatchError
from longmatch.evaluation.measures import evaluate_run, find_answers, parse, parse_all
from tests.effort import tried

IDS = [f"d{i}" for i in range(12)]
THEIRS = {
    "nDCG@10": ir_measures.nDCG @ 10,
    "nDCG@3": ir_measures.nDCG @ 3,
    "nDCG": ir_measures.nDCG,
    "MRR": ir_measures.RR,
    "MAP": ir_measures.AP,
    "MAP@4": ir_measures.AP @ 4,
    "recall@5": ir_measures.R @ 5,
    "HR@5": ir_measures.R @ 5,
}

queries = st.lists(st.sampled_from(["q1", "q2", "q3", "q4"]), min_size=1, unique=True)
grades = st.dictionaries(st.sampled_from(IDS), st.integers(0, 3), min_size=1)
scores = st.dictionaries(st.sampled_from(IDS), st.integers(0, 4).map(float), min_size=1)  # few values: many ties


@given(st.data())
@settings(deadline=None, max_examples=tried(50))
def test_measures_equal_ir_measures_with_ties_and_missing_queries(data: st.DataObject) -> None:
    judged = data.draw(queries)
    qrels = {query: data.draw(grades) for query in judged}
    run = {query: data.draw(scores) for query in data.draw(st.lists(st.sampled_from(judged), unique=True))}
    theirs = ir_measures.calc_aggregate(list(THEIRS.values()), qrels, run)
    for name, other in THEIRS.items():
        assert evaluate_run(parse(name), qrels, run) == pytest.approx(theirs[other], abs=1e-9), name


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
    assert parse(name)(find_answers({"b": 1, "d": 2, "a": 0}, RUN)) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(("rank", "value"), [(1, 1.0), (2, 1.0), (3, 1 / 2), (5, 1 / 4)])
def test_mrr_released_counts_one_rank_less_from_the_second_on(rank: int, value: float) -> None:
    assert parse("mrr_released")(find_answers({"abcde"[rank - 1]: 1}, RUN)) == value


def test_equal_scores_put_the_later_id_first_whatever_the_order_of_the_run() -> None:
    for ids in (["a", "b"], ["b", "a"]):
        assert find_answers({"a": 1}, dict.fromkeys(ids, 0.5)).ranks.tolist() == [2]


def test_a_score_that_is_no_number_ranks_last() -> None:
    assert find_answers({"z": 1}, {"z": math.nan, "a": -5.0}).ranks.tolist() == [2]


def test_an_answer_that_is_not_ranked_counts_as_not_found() -> None:
    assert parse("MPR")(find_answers({"a": 1, "x": 1}, RUN)) == 0.5


@pytest.mark.parametrize("name", ["HR", "nDCG@0", "nDCG@ten", "F1@3", "speed"])
def test_an_unknown_measure_is_said_to_be(name: str) -> None:
    with pytest.raises(LongmatchError, match="There is no measure"):
        parse(name)


def test_names_are_read_back_as_they_are_written() -> None:
    names = ["nDCG@10", "MRR", "MPR", "HR@10", "recall@100", "MAP", "mrr_released", "F1", "roc_auc", "recall"]
    assert [measure.name for measure in parse_all(",".join(names))] == names
