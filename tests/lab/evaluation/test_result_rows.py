"""Rows of several seeds: each query's mean over the seeds, then the tests that single rows have."""

import numpy as np
import pytest

from longmatch.lab.evaluation.measures import PairMeasure, PairPredictions, QueryResult, parse
from longmatch.lab.evaluation.result_rows import Comparer, ResultRow, make_rows, rows_without_tests
from longmatch.lab.evaluation.runs import ModelRun
from longmatch.lab.evaluation.significance import bootstrap_pairs, compare_bootstraps, compare_queries

RNG = np.random.default_rng(5)
QUERIES, COUNT = 30, 60
LABELS = RNG.random(COUNT) < 0.5
SOURCES = tuple(f"s{n % 20}" for n in range(COUNT))


def run(model: str, seed: int | None = None) -> ModelRun:
    one = np.ones(1, dtype=np.int64)
    answers = {f"q{n:02d}": QueryResult(one * int(RNG.integers(1, 9)), one, one, 50) for n in range(QUERIES)}
    verdicts = PairPredictions(LABELS, RNG.random(COUNT) + 0.3 * LABELS, 0.6)
    return ModelRun("set", model, "test", 0, None, {}, answers, verdicts, SOURCES, 50, {}, 1.0, 1.0, "CPU", {}, seed)


TFIDF, SEEDS = run("tfidf"), [run("colde", seed) for seed in (1, 2, 3)]


@pytest.fixture(scope="module")
def row() -> ResultRow:
    """Three seeds beside tfidf; the seeds not in order."""
    found = make_rows([SEEDS[2], TFIDF, *SEEDS[:2]], [parse("MRR"), parse("F1")])
    return next(row for row in found if row.model == "colde")


def test_seeds_are_in_order_and_measures_are_their_mean(row: ResultRow) -> None:
    f1 = parse("F1")
    assert row.seeds == [1, 2, 3]
    assert row.measures["F1"] == pytest.approx(np.mean([f1(found.verdicts) for found in SEEDS]))  # type: ignore
    assert row.deviation("F1") == pytest.approx(np.std([f1(found.verdicts) for found in SEEDS], ddof=1))  # type: ignore


def test_a_ranking_is_tested_on_each_querys_mean_over_the_seeds(row: ResultRow) -> None:
    values = [[1 / found.answers[q].ranks[0] for q in sorted(found.answers)] for found in [*SEEDS, TFIDF]]
    wanted = compare_queries(np.mean(values[:3], axis=0), np.array(values[3]))
    assert (row.against_tfidf["MRR"].p, row.against_tfidf["MRR"].p_t) == pytest.approx((wanted.p, wanted.p_t))
    assert row.against_tfidf["MRR"].difference == pytest.approx(wanted.difference)


def test_pairs_are_tested_on_each_draws_mean_over_the_seeds(row: ResultRow) -> None:
    f1 = parse("F1")
    assert isinstance(f1, PairMeasure)
    *mine, theirs = [bootstrap_pairs(f1, r.verdicts, SOURCES) for r in [*SEEDS, TFIDF] if r.verdicts]
    wanted = compare_bootstraps(row.against_tfidf["F1"].difference, np.mean(mine, axis=0), theirs)
    assert row.against_tfidf["F1"].p == wanted.p
    assert row.intervals["F1"].low == pytest.approx(np.quantile(np.mean(mine, axis=0), 0.025))


def test_every_row_but_bm25_itself_is_tested_against_bm25() -> None:
    bm25 = ModelRun(**{**vars(TFIDF), "model": "bm25"})
    found = {row.model: row for row in make_rows([TFIDF, bm25, *SEEDS], [parse("MRR"), parse("F1")])}
    assert found["colde"].against_bm25 == found["colde"].against_tfidf  # here both answer alike
    assert found["tfidf"].against_bm25["MRR"].difference == 0 and not found["bm25"].against_bm25
    assert set(found["colde"].to_dict()["against_bm25"]) == {"MRR", "F1"}


def test_a_studys_rows_are_no_rivals() -> None:
    studied = ModelRun(**{**vars(run("colde sections=3", 1)), "study": {"name": "s", "key": "sections", "value": 3}})
    found = {row.model: row for row in make_rows([TFIDF, *SEEDS, studied], [parse("MRR")])}
    assert {row.best_other["MRR"][0] for row in found.values()} <= {"tfidf", "colde"}
    assert found["colde sections=3"].against_tfidf


@pytest.mark.parametrize("name", ["MRR", "F1"])
def test_two_trained_rows_are_compared_on_the_seeds_that_both_have(name: str) -> None:
    """One seed of a model is not compared with the mean of three of another."""
    rival = run("rival", 2)
    ours, theirs, second = (rows_without_tests(runs)[0] for runs in (SEEDS, [rival], [SEEDS[1]]))
    assert Comparer().compare(theirs, ours, parse(name)) == Comparer().compare(theirs, second, parse(name))
    untrained = rows_without_tests([TFIDF])[0]
    mean = ours.measures[name] - untrained.measures[name]
    assert Comparer().compare(ours, untrained, parse(name)).difference == pytest.approx(mean)
    other_seed = rows_without_tests([run("rival", 9)])[0]
    difference = other_seed.measures[name] - ours.measures[name]
    assert Comparer().compare(other_seed, ours, parse(name)).difference == pytest.approx(difference)
