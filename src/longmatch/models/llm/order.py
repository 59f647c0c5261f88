"""The order of documents that a judge saw after another stage had ranked them."""

import numpy as np

from longmatch.matching.matcher import Scores

STEP = 1e-9  # between scores that would be equal


def settle(scores: Scores) -> Scores:
    """Distinct scores for documents in a first stage's order, where NaN means not judged.

    A document that was not judged keeps its place; the others take the remaining places by their scores, and equal
    scores keep the first stage's order. One that was not judged is given the score of the next document.

    >>> settle(np.array([0.2, np.nan, 0.9])).round(3).tolist()
    [0.2, 0.2, 0.9]
    >>> np.argsort(-settle(np.array([0.2, np.nan, 0.9]))).tolist()
    [2, 1, 0]
    """
    unjudged = np.isnan(scores)
    by_score = iter(np.argsort(-scores[~unjudged], kind="stable").tolist())
    judged = np.flatnonzero(~unjudged)
    order = [place if unjudged[place] else int(judged[next(by_score)]) for place in range(len(scores))]
    settled = np.zeros(len(scores))
    below = float(np.nanmin(scores)) - STEP if len(judged) else -STEP
    for place in reversed(order):
        below = max(below + STEP, 0.0 if unjudged[place] else float(scores[place]))
        settled[place] = below
    return settled
