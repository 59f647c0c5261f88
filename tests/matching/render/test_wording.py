"""The plain words in which a match is told."""

from dataclasses import replace

import pytest

from longmatch.matching.render.wording import verdict


@pytest.mark.parametrize(
    ("probability", "words"),
    [
        (1.0, "The two almost certainly belong together"),
        (0.95, "The two almost certainly belong together"),
        (0.94, "The two probably belong together"),
        (0.70, "The two probably belong together"),
        (0.69, "The two may belong together"),
        (0.30, "The two may belong together"),
        (0.29, "The two probably do not belong together"),
        (0.05, "The two probably do not belong together"),
        (0.04, "The two almost certainly do not belong together"),
        (0.0, "The two almost certainly do not belong together"),
    ],
)
def test_the_verdict_goes_by_the_probability_and_not_by_the_score(pair, probability, words):
    for score in (0.0, 0.42, 1.0):
        assert verdict(replace(pair, score=score, probability=probability)) == words
