"""How many steps a run has, and when it validates, saves and stops early."""

from dataclasses import dataclass
from math import ceil
from typing import Any

from transformers import TrainerCallback, TrainerControl, TrainerState

from longmatch.lab.training.settings import TrainingSettings

SELECTION_METRIC = "eval_deciding"  # the first validation measure, negated if lower is better: the best step maximises


@dataclass(frozen=True)
class RunSchedule:
    """The steps of a run; each updates the weights by the mean gradient of `batches_per_step` batches."""

    steps: int
    batches_per_step: int
    validate_every: int
    save_every: int
    patience: int | None  # steps

    @staticmethod
    def of(settings: TrainingSettings, batches_per_epoch: int, processes: int) -> "RunSchedule":
        """Resolve the settings for a data set of `batches_per_epoch` batches.

        >>> RunSchedule.of(TrainingSettings(epochs=2, accumulate=2), batches_per_epoch=10, processes=1)
        RunSchedule(steps=10, batches_per_step=2, validate_every=5, save_every=5, patience=None)
        >>> RunSchedule.of(TrainingSettings(epochs=2, least_steps=100), batches_per_epoch=10, processes=1).steps
        100
        """
        per_step = settings.accumulate * processes
        steps = settings.steps or max(settings.least_steps, ceil(settings.epochs * batches_per_epoch / per_step))
        every = min(steps, settings.validate_every or ceil(batches_per_epoch / per_step))
        patience = None if settings.patience is None else ceil(settings.patience * batches_per_epoch / per_step)
        return RunSchedule(steps, per_step, every, settings.save_every or every, patience)


class ScheduleCallback(TrainerCallback):  # type: ignore[misc]
    """Makes the Trainer validate, save and stop on schedule. Stateless: all it needs is in the saved trainer state."""

    def __init__(self, schedule: RunSchedule) -> None:
        self.schedule = schedule

    def on_step_end(self, args: Any, state: TrainerState, control: TrainerControl, **others: Any) -> None:
        """Save and log at every validation and at the last step, so that a resumed log equals an uninterrupted one."""
        last = state.global_step >= state.max_steps
        if last or state.global_step % self.schedule.validate_every == 0:
            control.should_evaluate = control.should_save = True
        if state.global_step % self.schedule.save_every == 0:
            control.should_save = True
        if control.should_save:
            control.should_log = True

    def on_evaluate(self, args: Any, state: TrainerState, control: TrainerControl, **others: Any) -> None:
        """Stop early once the patience is exhausted."""
        if self.is_stale(state):
            control.should_training_stop = True

    def is_stale(self, state: TrainerState) -> bool:
        """Whether no validation of the last `patience` steps beat the best one before them."""
        validations = [(line["step"], line[SELECTION_METRIC]) for line in state.log_history if SELECTION_METRIC in line]
        if self.schedule.patience is None or not validations:
            return False
        best, _ = max(validations, key=lambda validation: validation[1])  # of equal ones the first
        return bool(validations[-1][0] - best >= self.schedule.patience)
