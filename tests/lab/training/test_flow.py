"""How long a run is and when it stops."""

import pytest
from transformers import TrainerState

from longmatch.lab.training.flow import DECIDING, Flow, Plan
from longmatch.lab.training.settings import TrainingSettings


def plan(batches=10, processes=1, **settings):
    return Plan.make(TrainingSettings(**settings), batches, processes)


def test_epochs_become_steps_of_all_processes_batches():
    assert plan(epochs=3).steps == 30
    assert plan(epochs=3, accumulate=4).steps == 8
    assert plan(epochs=1, accumulate=2, processes=3).steps == 2
    assert plan(epochs=0.01).steps == 1


def test_steps_go_before_epochs():
    assert plan(epochs=3, steps=7).steps == 7


def test_an_epoch_is_validated_at_its_end_unless_told_otherwise():
    assert plan(accumulate=3).validate_every == 4
    assert plan(validate_every=2).validate_every == 2
    assert plan(steps=5).validate_every == 5
    assert plan(validate_every=4, save_every=2).save_every == 2


@pytest.mark.parametrize(
    ("found", "stale"), [([], False), ([1, 2, 3], False), ([3, 2], False), ([3, 2, 1], True), ([3, 3, 3], True)]
)
def test_a_run_is_stale_when_nothing_got_better_for_as_long_as_its_patience(found, stale):
    state = TrainerState(log_history=[{DECIDING: value} for value in found])
    assert Flow(plan(patience=2)).is_stale(state) == stale
    assert not Flow(plan()).is_stale(state)
