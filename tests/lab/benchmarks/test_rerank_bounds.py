"""The bounds on reranking, compared with every order of the documents."""

from itertools import permutations

import numpy as np
import pytest

from longmatch.lab.benchmarks.rerank_bounds import best_order, bounds, random_order
from longmatch.lab.evaluation.measures import QueryResult
from longmatch.lab.evaluation.measures.ranking import nDCG

GRADES = [3, 0, 1, 0, 2]  # of what was handed on; one more answer, of grade 2, was not
FOUND = QueryResult(np.array([1, 3, 5, 9]), np.array([3, 1, 2, 2]), np.array([3, 2, 2, 1]), 12)


def all_orders() -> list[float]:
    ideal = 3 + 2 / np.log2(3) + 2 / np.log2(4)
    return [sum(g / np.log2(n + 2) for n, g in enumerate(order[:3])) / ideal for order in permutations(GRADES)]


def test_chance_is_the_mean_over_all_orders_and_no_order_is_above_the_best() -> None:
    assert random_order(FOUND, 5, 3) == pytest.approx(np.mean(all_orders()))
    assert nDCG(3)(best_order(FOUND, 5)) == pytest.approx(max(all_orders()))


def test_answers_that_are_not_handed_on_count_for_nothing() -> None:
    told = bounds([FOUND], 5, 3)
    assert told["passed on"] == pytest.approx(3 / 4)
    assert random_order(FOUND, 0, 3) == 0.0
