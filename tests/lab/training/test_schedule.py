"""How long a run is and when it stops."""

import pytest
from transformers import TrainerState

from longmatch.lab.training.schedule import SELECTION_METRIC, RunSchedule, ScheduleCallback
from longmatch.lab.training.settings import TrainingSettings


def schedule(batches=10, processes=1, **settings):
    return RunSchedule.of(TrainingSettings(**settings), batches, processes)


def test_epochs_become_steps_of_all_processes_batches():
    assert schedule(epochs=3).steps == 30
    assert schedule(epochs=3, accumulate=4).steps == 8
    assert schedule(epochs=1, accumulate=2, processes=3).steps == 2
    assert schedule(epochs=0.01).steps == 1


def test_steps_go_before_epochs():
    assert schedule(epochs=3, steps=7).steps == 7


def test_an_epoch_is_validated_at_its_end_unless_told_otherwise():
    assert schedule(accumulate=3).validate_every == 4
    assert schedule(validate_every=2).validate_every == 2
    assert schedule(steps=5).validate_every == 5
    assert schedule(validate_every=4, save_every=2).save_every == 2


@pytest.mark.parametrize(
    ("found", "stale"), [([], False), ([1, 2, 3], False), ([3, 2], False), ([3, 2, 1], True), ([3, 3, 3], True)]
)
def test_a_run_is_stale_when_nothing_got_better_for_as_many_epochs_as_its_patience(found, stale):
    state = TrainerState(log_history=[{SELECTION_METRIC: value, "step": 10 * n} for n, value in enumerate(found)])
    assert ScheduleCallback(schedule(patience=2)).is_stale(state) == stale
    assert not ScheduleCallback(schedule()).is_stale(state)


def test_patience_counts_epochs_however_often_they_are_validated():
    assert schedule(patience=2, validate_every=1).patience == 20
    assert schedule(patience=0.5, accumulate=2).patience == 3
