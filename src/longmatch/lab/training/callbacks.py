"""How many steps a run has, and when it validates, saves and stops early."""

from collections import deque
from dataclasses import dataclass
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from time import monotonic
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from transformers import TrainerCallback, TrainerControl, TrainerState

from longmatch.lab.training.settings import TrainingSettings

SELECTION_METRIC = "eval_deciding"  # the first validation measure, negated if lower is better: the best step maximises
STEP = "step {task.completed} of {task.total}"
LOSS_AND_SPEED = "loss {task.fields[loss]:.4f}, {task.fields[speed]:,.0f} tokens/s,"


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


class ConsoleProgress(TrainerCallback):  # type: ignore[misc]
    """Step, loss, tokens per second and time left, on standard error; one line per validation."""

    def __init__(self, shown: bool = True, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True, soft_wrap=True, highlight=False, quiet=not shown)
        self.loss = float("nan")
        columns = [TextColumn(STEP), BarColumn(), TextColumn(LOSS_AND_SPEED), TimeRemainingColumn(), TextColumn("left")]
        live = shown and self.console.is_terminal
        self.bar = Progress(*columns, console=self.console, transient=True, disable=not live)
        self.tokens = 0  # of the batches of the step
        self._recent: deque[tuple[int, float]] = deque(maxlen=20)  # tokens and seconds of the last steps
        self._since = monotonic()

    def print(self, sentence: str) -> None:
        """Print a line that stays."""
        self.console.print(sentence, markup=False)

    @property
    def tokens_per_second(self) -> float:
        """Over the last steps, without the time spent on validation and saving."""
        seconds = sum(spent for _, spent in self._recent)
        return sum(tokens for tokens, _ in self._recent) / seconds if seconds else 0.0

    def on_train_begin(self, args: Any, state: TrainerState, control: Any, **others: Any) -> None:
        """Start the bar at the run's current step."""
        done = state.global_step
        self._task = self.bar.add_task("", total=state.max_steps, completed=done, loss=self.loss, speed=0.0)
        self._since = monotonic()

    def on_step_end(self, args: Any, state: TrainerState, control: Any, **others: Any) -> None:
        """Advance the bar."""
        self._recent.append((self.tokens, monotonic() - self._since))
        self.tokens, self._since = 0, monotonic()
        self.bar.update(self._task, completed=state.global_step, loss=self.loss, speed=self.tokens_per_second)

    def on_evaluate(self, args: Any, state: TrainerState, control: Any, **others: Any) -> None:
        """Print the validation measures."""
        metrics: dict[str, float] = others["metrics"]
        best = state.best_metric is None or metrics[SELECTION_METRIC] > state.best_metric
        measures = ", ".join(f"{key[5:]} {value:.4f}" for key, value in metrics.items() if key != SELECTION_METRIC)
        loss = f"loss {self.loss:.4f}; " if state.global_step else ""
        facts = f"{loss}on validation {measures}{', the best so far' if best and state.global_step else ''}"
        self.print(f"Step {state.global_step} of {state.max_steps}: {facts}.")
        self._since = monotonic()

    def on_save(self, args: Any, state: TrainerState, control: Any, **others: Any) -> None:
        """Restart the clock: saving does not count as training time."""
        self._since = monotonic()


class TensorBoardLog(TrainerCallback):  # type: ignore[misc]
    """Writes the log to TensorBoard, if it is installed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._writer: Any = None

    def on_train_begin(self, args: Any, state: TrainerState, control: Any, **others: Any) -> None:
        """Continue at the run's step: what an interrupted run logged after its last checkpoint is dropped."""
        if state.is_world_process_zero and find_spec("tensorboard"):
            from torch.utils.tensorboard import SummaryWriter

            self._writer = SummaryWriter(str(self.folder), purge_step=state.global_step + 1)

    def on_log(self, args: Any, state: TrainerState, control: Any, **others: Any) -> None:
        """Add one point to each curve."""
        if self._writer:
            for name, value in others["logs"].items():
                self._writer.add_scalar(name.replace("eval_", "validation/"), value, state.global_step)
            self._writer.flush()

    def on_train_end(self, args: Any, state: TrainerState, control: Any, **others: Any) -> None:
        """Close the log."""
        if self._writer:
            self._writer.close()
