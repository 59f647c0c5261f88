"""What counts as a proof."""

import numpy as np
import pytest

from longmatch.lab.adapting.proof import Gain, Proof

BETTER, WORSE, SAME = Gain(0.7, 0.8, 0.01), Gain(0.7, 0.6, 0.99), Gain(0.7, 0.71, 0.3)
FULL, LOWERED = Gain(0.99, 0.9885, 0.8), Gain(0.99, 0.98, 0.9)


@pytest.mark.parametrize(
    ("score", "meaning", "holds"),
    [
        (BETTER, SAME, True),
        (BETTER, WORSE, True),  # the score is what is ranked by
        (SAME, BETTER, False),
        (WORSE, BETTER, False),
        (FULL, BETTER, True),
        (FULL, SAME, False),
        (LOWERED, BETTER, False),
    ],
)
def test_the_score_must_be_better_or_full_and_meaning_better(score: Gain, meaning: Gain, holds: bool) -> None:
    proof = Proof(score, meaning, documents=20, passages=120, among=79)
    assert proof.holds is holds
    assert Proof.of_dict(proof.to_dict()) == proof


def test_p_is_one_sided() -> None:
    rng = np.random.default_rng(0)
    low = rng.random(30)
    high = low + 0.1 * rng.random(30)
    assert Gain.of(low, high).p < 0.001
    assert Gain.of(high, low).p > 0.999
    assert Gain.of(low, low).p == 0.5
    assert not Gain.of(low, low).is_better
