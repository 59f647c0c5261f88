"""Reranking the default's best documents: a start at its own order, and what can be learnt beyond it."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from longmatch.lab.default.features import DEPTH
from longmatch.lab.evaluation.measures.query_result import rank_query
from longmatch.lab.evaluation.measures.ranking import nDCG
from longmatch.lab.evaluation.significance import compare_queries
from longmatch.lab.reranking.candidates import EVIDENCE
from longmatch.lab.reranking.rerankers import (
    PENALTIES,
    BestDocuments,
    averaged_ranks,
    choose_regression,
    fit_boosting,
    fit_regression,
)
from tests.lab.reranking.made_lists import drawn, made_lists


def test_before_anything_is_learnt_the_order_is_the_default_s() -> None:
    lists = drawn("phrases")
    best = BestDocuments.of(lists, depth=30)
    expected = []
    for start, end in zip(lists.offsets[:-1], lists.offsets[1:], strict=True):
        grades = {str(i): int(grade) for i, grade in enumerate(lists.grades[start:end])}
        scores = {str(i): float(score) for i, score in enumerate(lists.scores[start:end])}
        expected.append(nDCG(DEPTH)(rank_query(grades, scores)))
    assert best.ndcg(best.scores) == pytest.approx(expected)
    held = fit_regression([best], penalty=1e6)
    assert torch.equal(held(best).argsort(1, descending=True), best.scores.argsort(1, descending=True))


def test_only_the_best_documents_are_ordered_again() -> None:
    lists = drawn("phrases", queries=6)
    best = BestDocuments.of(lists, depth=10)
    assert best.grades.tolist() == lists.grades.reshape(6, 30)[:, :10].tolist()
    assert best.scores.tolist() == lists.scores.reshape(6, 30)[:, :10].tolist()
    assert best.listed.all()
    longer = BestDocuments.of(lists, depth=50)
    assert longer.listed.sum(1).tolist() == [30] * 6
    assert not longer.evidence[~longer.listed].any()


def test_an_answer_below_the_depth_is_missed_whatever_the_order() -> None:
    lists = made_lists({0: [1, 2, 3, 4]}, {0: {2: 1, 4: 1}})
    best = BestDocuments.of(lists, depth=3)
    first, second = 1 / np.log2([2, 3])
    assert best.ndcg(torch.from_numpy(best.grades).float()) == pytest.approx([first / (first + second)])


def test_evidence_its_ranks_and_the_place_are_differences_from_their_mean_in_the_list() -> None:
    lists = made_lists({0: range(5), 1: range(3), 2: range(1)}, {0: {}, 1: {}, 2: {}})
    values = np.random.default_rng(0).normal(size=lists.evidence.shape).astype(np.float32)
    kinds = ("title", "best_section")
    best = BestDocuments.of(replace(lists, evidence=values), depth=4, kinds=kinds)
    assert best.evidence.shape == (3, 4, 2 * len(kinds) + 1)
    for query, (start, count) in enumerate([(0, 4), (5, 3), (8, 1)]):
        own = [values[start : start + count, EVIDENCE.index(kind)].tolist() for kind in kinds]
        ranks = [[-np.log1p(sum(other > value for other in column)) for value in column] for column in own]
        for number, column in enumerate([*own, *ranks, [-np.log1p(place) for place in range(count)]]):
            expected = [value - np.mean(column) for value in column] + [0.0] * (4 - count)
            assert best.evidence[query, :, number].tolist() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("fit", [lambda sets: fit_regression(sets, 1e-2), fit_boosting])
@pytest.mark.parametrize("deciding", ["phrases", "best_section"])
def test_what_the_default_ignores_is_found(fit, deciding: str) -> None:
    best = BestDocuments.of(drawn(deciding), depth=30)
    gained = compare_queries(best.ndcg(fit([best])(best)), best.ndcg(best.scores))
    assert gained.difference > 0.2
    assert gained.p < 0.01


def test_ranks_are_averaged_query_by_query() -> None:
    one, other = [[3.0, 2.0, 1.0], [0.0, 5.0, 5.0]], [[9.0, 7.0, 8.0], [1.0, 2.0, 3.0]]
    assert averaged_ranks(one, other).tolist() == [[2.0, 0.5, 0.5], [0.0, 1.25, 1.75]]


def test_every_set_counts_alike_however_many_queries_it_has() -> None:
    large, small = (BestDocuments.of(drawn("title", queries=q, seed=q), 30, ["title"]) for q in (40, 10))
    twice = BestDocuments.of(drawn("title", queries=10, seed=10), 30, ["title"])
    both = fit_regression([large, small], 1e-2)(large)
    assert torch.allclose(both, fit_regression([large, small, large, twice], 1e-2)(large), atol=1e-3)
    assert not torch.allclose(both, fit_regression([large, large, small], 1e-2)(large), atol=1e-2)


def test_the_penalty_is_the_one_that_is_best_where_a_set_is_left_out_and_the_highest_for_a_set_alone() -> None:
    kinds = ("phrases", "title")
    first, second = (BestDocuments.of(drawn(kind), 30, kinds) for kind in kinds)
    worth = [
        first.ndcg(fit_regression([second], penalty)(first)).mean()
        + second.ndcg(fit_regression([first], penalty)(second)).mean()
        for penalty in PENALTIES
    ]
    expected = fit_regression([first, second], PENALTIES[int(np.argmax(worth))])
    assert torch.equal(choose_regression([first, second])(first), expected(first))
    assert torch.equal(choose_regression([first])(second), fit_regression([first], max(PENALTIES))(second))
