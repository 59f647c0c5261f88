"""What was not judged keeps its place."""

import numpy as np
import pytest

from longmatch.models.llm.order import settle

NONE = np.nan


@pytest.mark.parametrize(
    ("scores", "order"),
    [
        ([0.1, 0.9, 0.5], [1, 2, 0]),
        ([NONE, 0.1, 0.9], [0, 2, 1]),
        ([0.1, NONE, 0.9], [2, 1, 0]),
        ([0.1, 0.9, NONE], [1, 0, 2]),
        ([0.5, 0.5, 0.5], [0, 1, 2]),
        ([0.0, NONE, 0.0, NONE], [0, 1, 2, 3]),
        ([NONE, NONE], [0, 1]),
        ([0.3, 1.0, NONE, 1.0], [1, 3, 2, 0]),
        ([], []),
    ],
)
def test_the_order(scores, order):
    settled = settle(np.array(scores, dtype=np.float64))
    assert np.argsort(-settled).tolist() == order and len(set(settled.tolist())) == len(scores)


def test_scores_that_were_given_stay_as_they_are():
    scores = np.array([0.2, NONE, 0.9, 0.9])
    settled = settle(scores)
    np.testing.assert_allclose(settled[[0, 2, 3]], scores[[0, 2, 3]], atol=1e-7)
    assert (settled >= 0).all() and not np.isnan(settled).any()
