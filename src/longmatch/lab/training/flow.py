"""How long a run is, when it looks at the validation split, when it is saved and when it stops early."""

from dataclasses import dataclass
from math import ceil
from typing import Any

from transformers import TrainerCallback, TrainerControl, TrainerState

from longmatch.lab.training.settings import TrainingSettings

DECIDING = "eval_deciding"  # the first measure, its sign turned where less is better: the best step has the most


@dataclass(frozen=True)
class Plan:
    """The steps of a run: changes of the weights, each by the mean over `batches_per_step` batches."""

    steps: int
    batches_per_step: int
    validate_every: int
    save_every: int
    patience: int | None

    @staticmethod
    def make(settings: TrainingSettings, batches_per_epoch: int, processes: int) -> "Plan":
        """From what was asked for and how much there is to read.

        >>> Plan.make(TrainingSettings(epochs=2, accumulate=2), batches_per_epoch=10, processes=1)
        Plan(steps=10, batches_per_step=2, validate_every=5, save_every=5, patience=None)
        """
        together = settings.accumulate * processes
        steps = settings.steps or max(1, ceil(settings.epochs * batches_per_epoch / together))
        every = min(steps, settings.validate_every or ceil(batches_per_epoch / together))
        return Plan(steps, together, every, settings.save_every or every, settings.patience)


class Flow(TrainerCallback):  # type: ignore[misc]
    """Tells the Trainer when to validate, save and stop. It remembers nothing itself: the saved state says it all."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def on_step_end(self, args: Any, state: TrainerState, control: TrainerControl, **others: Any) -> None:
        """Every validation is saved, the last step too; and logged, so that the log goes on as if never stopped."""
        last = state.global_step >= state.max_steps
        if last or state.global_step % self.plan.validate_every == 0:
            control.should_evaluate = control.should_save = True
        if state.global_step % self.plan.save_every == 0:
            control.should_save = True
        if control.should_save:
            control.should_log = True

    def on_evaluate(self, args: Any, state: TrainerState, control: TrainerControl, **others: Any) -> None:
        """Stop when the measure has not got better for long enough."""
        if self.is_stale(state):
            control.should_training_stop = True

    def is_stale(self, state: TrainerState) -> bool:
        """Whether the last validations, as many as `patience`, were no better than the best before them."""
        found = [line[DECIDING] for line in state.log_history if DECIDING in line]
        if self.plan.patience is None or not found:
            return False
        return len(found) - 1 - found.index(max(found)) >= self.plan.patience
