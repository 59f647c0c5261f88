"""What the default's backbone learns from."""

import numpy as np
import pytest

from longmatch.lab.adapting.learning import material as module
from longmatch.lab.adapting.learning.material import Material, hard_negatives


def test_lexical_scores_are_the_rows_products(material: Material) -> None:
    rows, columns = np.array([3, 0]), np.array([1, 2, 5])
    whole = material.words.toarray() @ material.words.toarray().T
    assert np.allclose(material.lexical(rows, columns)[0], whole[np.ix_(rows, columns)], atol=1e-6)


def test_hard_negatives_are_the_best_wrong_answers_of_the_lexical_sides(
    material: Material, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BLOCK", 5)
    found = hard_negatives(material, most=4)
    for number, near in found.items():
        scores = material.lexical(np.array([number]), np.arange(len(material)))[0, 0]
        wrong = [n for n in range(len(material)) if n != number and n not in material.answers[number]]
        assert set(near.tolist()) <= set(wrong)
        assert min(scores[near]) >= sorted((scores[n] for n in wrong), reverse=True)[3] - 1e-6


def test_of_few_documents_all_wrong_ones_are_hard(material: Material) -> None:
    found = hard_negatives(material, most=1000)
    assert all(len(near) == len(material) - 2 for near in found.values())
