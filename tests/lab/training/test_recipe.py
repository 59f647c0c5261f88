"""What is drawn at a step follows from the seed and the step alone."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from longmatch.lab.training.recipe import EpochSampler, step_rng


@given(count=st.integers(1, 60), per_step=st.integers(1, 70), seed=st.integers(0, 5))
def test_each_epoch_holds_every_row_once_in_steps_of_nearly_equal_size(count, per_step, seed):
    epochs = EpochSampler(count, per_step, seed)
    steps = [epochs.rows(step) for step in range(2 * epochs.steps_per_epoch)]
    for epoch in (steps[: len(steps) // 2], steps[len(steps) // 2 :]):
        assert sorted(np.concatenate(epoch).tolist()) == list(range(count))
    sizes = {len(step) for step in steps}
    assert min(sizes) > 0 and max(sizes) <= per_step and max(sizes) - min(sizes) <= 1


@given(st.lists(st.integers(0, 40), min_size=1))
def test_a_step_is_the_same_whichever_were_asked_for_before(wanted):
    epochs = EpochSampler(23, 4, seed=1)
    for step in wanted:
        assert epochs.rows(step).tolist() == EpochSampler(23, 4, seed=1).rows(step).tolist()


def test_another_epoch_and_another_seed_have_another_order():
    epochs = EpochSampler(50, 50, seed=1)
    assert epochs.rows(0).tolist() != epochs.rows(1).tolist()
    assert epochs.rows(0).tolist() != EpochSampler(50, 50, seed=2).rows(0).tolist()


def test_steps_draw_different_numbers():
    assert len({float(step_rng(seed, step).random()) for seed in range(5) for step in range(20)}) == 100
