"""What a run shows while it goes on: a line that moves in a terminal, a few lines in a file, and TensorBoard."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from transformers import TrainerCallback, TrainerState

from longmatch.lab.training.flow import DECIDING

LINE = "step {task.completed} of {task.total}"
FACTS = "loss {task.fields[loss]:.4f}, {task.fields[speed]:,.0f} tokens/s,"


class Watch(TrainerCallback):  # type: ignore[misc]
    """Step, loss, tokens a second and time left, on standard error; a line for each validation."""

    def __init__(self, shown: bool = True, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True, soft_wrap=True, highlight=False, quiet=not shown)
        self.loss = float("nan")
        columns = [TextColumn(LINE), BarColumn(), TextColumn(FACTS), TimeRemainingColumn(), TextColumn("left")]
        moving = shown and self.console.is_terminal
        self._bar = Progress(*columns, console=self.console, transient=True, disable=not moving)
        self._tokens = 0
        self._recent: deque[tuple[int, float]] = deque(maxlen=20)  # tokens and seconds of the last steps
        self._since = monotonic()

    def say(self, sentence: str) -> None:
        """A line that stays."""
        self.console.print(sentence, markup=False)

    @contextmanager
    def waiting(self, what: str) -> Iterator[None]:
        """Turn while something is done that has no steps."""
        with self.console.status(what):
            yield

    @contextmanager
    def running(self) -> Iterator[None]:
        """Show the line until the end, also an early one."""
        with self._bar:
            yield

    def read(self, tokens: int) -> None:
        """Count what one batch held."""
        self._tokens += tokens

    @property
    def tokens_a_second(self) -> float:
        """Over the last steps, time for validation and saving left out."""
        seconds = sum(spent for _, spent in self._recent)
        return sum(tokens for tokens, _ in self._recent) / seconds if seconds else 0.0

    def on_train_begin(self, args: Any, state: TrainerState, control: Any, **others: Any) -> None:
        """Begin the line where the run begins."""
        done = state.global_step
        self._task = self._bar.add_task("", total=state.max_steps, completed=done, loss=self.loss, speed=0.0)
        self._since = monotonic()

    def on_step_end(self, args: Any, state: TrainerState, control: Any, **others: Any) -> None:
        """Move the line."""
        self._recent.append((self._tokens, monotonic() - self._since))
        self._tokens, self._since = 0, monotonic()
        self._bar.update(self._task, completed=state.global_step, loss=self.loss, speed=self.tokens_a_second)

    def on_evaluate(self, args: Any, state: TrainerState, control: Any, **others: Any) -> None:
        """Say how well the model does."""
        metrics: dict[str, float] = others["metrics"]
        best = state.best_metric is None or metrics[DECIDING] > state.best_metric
        found = ", ".join(f"{key[5:]} {value:.4f}" for key, value in metrics.items() if key != DECIDING)
        facts = f"loss {self.loss:.4f}; on validation {found}{', the best so far' if best else ''}"
        self.say(f"Step {state.global_step} of {state.max_steps}: {facts}.")
        self._since = monotonic()

    def on_save(self, args: Any, state: TrainerState, control: Any, **others: Any) -> None:
        """The time it took to save is none of the steps'."""
        self._since = monotonic()


class Board(TrainerCallback):  # type: ignore[misc]
    """Numbers for TensorBoard, where it is installed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._writer: Any = None

    def on_train_begin(self, args: Any, state: TrainerState, control: Any, **others: Any) -> None:
        """Go on from the run's step: what an interrupted run wrote after it is dropped."""
        if state.is_world_process_zero and find_spec("tensorboard"):
            from torch.utils.tensorboard import SummaryWriter

            self._writer = SummaryWriter(str(self.folder), purge_step=state.global_step + 1)

    def on_log(self, args: Any, state: TrainerState, control: Any, **others: Any) -> None:
        """One point in each curve."""
        if self._writer:
            for name, value in others["logs"].items():
                self._writer.add_scalar(name.replace("eval_", "validation/"), value, state.global_step)
            self._writer.flush()

    def on_train_end(self, args: Any, state: TrainerState, control: Any, **others: Any) -> None:
        """No more points."""
        if self._writer:
            self._writer.close()
