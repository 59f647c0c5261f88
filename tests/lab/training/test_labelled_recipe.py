"""Measures of validation pairs: against scikit-learn's, and where scores are lost."""

from math import isnan

import numpy as np
import pytest
import torch
from sklearn.metrics import accuracy_score, f1_score

from longmatch.lab.evaluation.measures import best_threshold
from longmatch.lab.training.data.labels import PairTable
from longmatch.lab.training.labelled_recipe import cosine_measures, pair_measures


def test_f1_and_accuracy_are_those_at_the_threshold_and_no_threshold_has_a_higher_f1():
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, 200)
    scores = labels * 0.3 + random.random(200)
    found = pair_measures(scores, labels)
    said = scores >= found["threshold"]
    assert found["f1"] == pytest.approx(f1_score(labels, said))
    assert found["accuracy"] == pytest.approx(accuracy_score(labels, said))
    assert found["f1"] == pytest.approx(max(f1_score(labels, scores >= value) for value in scores))


def test_the_threshold_is_the_one_that_evaluation_chooses():
    random = np.random.default_rng(1)
    for size in random.integers(2, 12, 300).tolist():
        labels, scores = random.integers(0, 2, size), random.integers(0, 6, size) / 5
        if labels.any():
            assert pair_measures(scores, labels)["threshold"] == best_threshold(labels.astype(bool), scores)


def test_scores_that_are_no_numbers_give_a_measure_that_is_none():
    assert isnan(pair_measures(np.array([0.1, np.nan]), np.array([0, 1]))["average_precision"])


def test_each_document_is_asked_for_once_and_vectors_need_not_be_of_length_1():
    asked = []

    def vectors_of(numbers):
        asked.extend(numbers.tolist())
        return torch.tensor([[2.0, 0.0], [3.0, 0.0], [0.0, 5.0]])

    pairs = PairTable(np.array([4, 4]), np.array([7, 9]), np.array([1, 0]))
    found = cosine_measures(pairs, vectors_of)
    assert asked == [4, 7, 9]
    assert found["average_precision"] == 1.0 and found["threshold"] == pytest.approx(0.5)
