"""OPT-Match's selection: the plan of a linear programme, and worked by hand, against the assignment."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment, linprog

from longmatch.lab.baselines.cross.opt_match import partial_transport, transported_sentences


def least_cost(cost: np.ndarray, mass: float) -> float:
    """Partial optimal transport as it is defined: rows and columns of at most 1, so much mass in all."""
    rows, columns = cost.shape
    sums = [np.kron(np.eye(rows), np.ones(columns)), np.kron(np.ones(rows), np.eye(columns))]
    found = linprog(cost.ravel(), np.vstack(sums), np.ones(rows + columns), np.ones((1, cost.size)), [mass])
    return float(found.fun)


@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 6), st.integers(0, 10_000))
@settings(deadline=None)
def test_no_plan_of_that_mass_costs_less(rows, columns, mass, seed):
    cost = np.random.default_rng(seed).uniform(-0.5, 2, (rows, columns))
    pairs = partial_transport(cost, mass)
    mass = min(mass, rows, columns)
    assert len(pairs) == mass == len(set(pairs[:, 0])) == len(set(pairs[:, 1]))
    assert cost[pairs[:, 0], pairs[:, 1]].sum() == pytest.approx(least_cost(cost, mass), abs=1e-6)
    assert (np.diff(cost[pairs[:, 0], pairs[:, 1]]) >= 0).all()


def square(cost: np.ndarray, mass: int) -> np.ndarray:
    """The same with places to stay out in on both sides: larger, and plainly right."""
    rows, columns = cost.shape
    wide = np.zeros((rows + columns - mass,) * 2)
    wide[:rows, :columns] = cost
    wide[rows:, columns:] = np.inf  # two places to stay out in make no pair
    found = np.stack(linear_sum_assignment(wide), axis=1)
    return found[(found[:, 0] < rows) & (found[:, 1] < columns)]


@given(st.integers(1, 12), st.integers(1, 12), st.data())
@settings(deadline=None)
def test_without_ties_the_pairs_are_those_with_places_on_both_sides(rows, columns, data):
    mass = data.draw(st.integers(1, min(rows, columns)))
    cost = np.random.default_rng(data.draw(st.integers(0, 10_000))).random((rows, columns))
    assert sorted(partial_transport(cost, mass).tolist()) == sorted(square(cost, mass).tolist())


COST = np.array([[0.0, 0.9, 0.9], [0.9, 0.1, 0.9], [0.8, 0.9, 0.7]])


def test_only_a_part_is_carried_so_what_has_no_counterpart_stays_out():
    # Sentences 0 and 1 answer each other; sentence 2 of either is far from all: with half the mass it is not chosen.
    assert partial_transport(COST, 2).tolist() == [[0, 0], [1, 1]]
    assert partial_transport(COST, 3).tolist() == [[0, 0], [1, 1], [2, 2]]


def test_the_cheapest_pair_is_given_up_where_all_together_are_cheaper():
    # Alone (0, 0) at .1 is best; for two pairs (0, 1) + (1, 0) = .5 beats (0, 0) + (1, 1) = 1.0.
    cost = np.array([[0.1, 0.2], [0.3, 0.9]])
    assert partial_transport(cost, 1).tolist() == [[0, 0]]
    assert partial_transport(cost, 2).tolist() == [[0, 1], [1, 0]]


def test_sentences_come_in_reading_order_and_fit_on_both_sides():
    cost = COST[:, [2, 1, 0]]  # b in reverse: its sentence 2 answers sentence 0 of a
    a, b = transported_sentences(cost, (np.array([4, 4, 4]), np.array([4, 4, 4])), limit=8, share=2 / 3)
    assert a.tolist() == [0, 1] and b.tolist() == [1, 2]
    a, b = transported_sentences(cost, (np.array([4, 4, 4]), np.array([4, 9, 4])), limit=8, share=2 / 3)
    assert a.tolist() == [0] and b.tolist() == [2]  # the second pair does not fit on b's side
    a, b = transported_sentences(cost, (np.array([99, 4, 4]), np.array([4, 4, 4])), limit=8)
    assert a.tolist() == [0] and b.tolist() == [2]  # one there always is


def test_documents_may_differ_in_length():
    cost = np.array([[0.5, 0.1, 0.9, 0.4, 0.8]])
    a, b = transported_sentences(cost, (np.array([3]), np.full(5, 3)), limit=100, share=1.0)
    assert a.tolist() == [0] and b.tolist() == [1]
