"""What indexing waits for, by name: bars on a terminal, a line now and then in a file or a pipe."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, NamedTuple

from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.text import Text

from longmatch.cli.printing import Terminal, warn

if TYPE_CHECKING:
    from longmatch.library.progress import IndexingProgress, OnProgress

PATIENCE = 3.0  # seconds before anything is said in a pipe
AGAIN = 30.0  # seconds before it is said again, unless another stage has begun
INDEX = 0.08  # of all the time, which the index takes after the last document is written
STAGES = ("reading", "OCR", "encoding", "writing")


class Stage(NamedTuple):
    """A kind of work that is under way, how much of it is done (0 to 1), and what to say of it."""

    name: str
    share: float
    text: str


def stages(now: "IndexingProgress | None", pages: tuple[int, int] = (0, 0)) -> list[Stage]:
    """What is waited for; `pages` are those that OCR has read of the present scan, and has to read."""
    from longmatch.render.wording import count

    found = [] if pages[0] >= pages[1] else [Stage("OCR", pages[0] / pages[1], f"{pages[0]:,} of {pages[1]:,} pages")]
    if now is None:
        return found
    if now.files < now.total_files:
        found.insert(0, Stage("reading", now.read, f"{now.files:,} of {now.total_files:,} files"))
    if now.tokens and now.share < 1:
        speed = f"{count(now.documents, 'document')}, {now.rate:,.0f} tokens a second"
        found.append(Stage("encoding", now.share, speed))
    if now.written or (now.tokens and now.share == 1):
        text = f"{'' if now.written_share < 1 else 'the index of '}{count(now.written, 'document')}"
        found.append(Stage("writing", now.written_share * (1 - INDEX), text))
    return found


class Countdown:
    """The seconds left of some work, by its pace so far. They fall between two reports too, down to 1."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._first: tuple[float, float] | None = None  # when it was first heard of, and the share done
        self._latest = 0.0
        self._end: float | None = None

    def report(self, share: float) -> None:
        """The share that is done, 0 to 1."""
        now = self._clock()
        begun, before = self._first = self._first or (now, share)
        said, self._latest = self._latest, share
        if before < share != said:  # said again, it is no news of the pace
            self._end = now + (now - begun) * (1 - share) / (share - before)

    @property
    def left(self) -> float | None:
        """None before the pace is known."""
        return None if self._end is None else max(1.0, self._end - self._clock())


class Waiting:
    """The stages under way, each with its countdown; told by any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._now: IndexingProgress | None = None
        self._pages = (0, 0)
        self.countdowns: dict[str, Countdown] = {}
        self.current: list[Stage] = []

    def report(self, now: "IndexingProgress") -> None:
        """How far indexing is."""
        with self._lock:
            self._now = now
            self._update()

    def report_page(self, done: int, total: int) -> None:
        """How many pages of a scan OCR has read."""
        with self._lock:
            if not done:
                self.countdowns.pop("OCR", None)  # another scan
            self._pages = done, total
            self._update()

    def _update(self) -> None:
        self.current = stages(self._now, self._pages)
        for stage in self.current:
            self.countdowns.setdefault(stage.name, Countdown()).report(stage.share)

    def left(self, stage: str) -> str:
        """The time left of a stage, as people write it; empty before it is known."""
        left = self.countdowns[stage].left if stage in self.countdowns else None
        return "" if left is None else f"{int(left) // 60}:{int(left) % 60:02} left"

    def line(self) -> str:
        """All of it in one line."""
        said = [", ".join(filter(None, (f"{s.name} {s.text}", self.left(s.name)))) for s in self.current]
        return "; ".join(said)


@contextmanager
def shown_progress() -> Iterator["OnProgress"]:
    """Show on standard error what the block waits for, as told by the function that it is given."""
    from longmatch.documents import ocr

    waiting, console = Waiting(), Terminal(stderr=True)
    with _bars(waiting, console) if console.is_terminal else _lines(waiting) as update:

        def report(now: "IndexingProgress") -> None:
            waiting.report(now)
            update()

        def report_page(done: int, total: int) -> None:
            waiting.report_page(done, total)
            update()

        with ocr.watching(report_page):
            yield report


class _Left(ProgressColumn):
    """The countdown of each stage."""

    def __init__(self, waiting: Waiting) -> None:
        super().__init__()
        self._waiting = waiting

    def render(self, task: Task) -> Text:
        return Text(self._waiting.left(str(task.fields["stage"])), "cyan")


@contextmanager
def _bars(waiting: Waiting, console: Terminal) -> Iterator[Callable[[], None]]:
    columns = [SpinnerColumn(), TextColumn("{task.description}"), BarColumn(20), _Left(waiting)]
    with Progress(*columns, console=console, transient=True) as shown:
        tasks = {name: shown.add_task("", False, 1.0, visible=False, stage=name) for name in STAGES}
        loading = shown.add_task("loading", total=None, stage="loading")

        def update() -> None:
            current = {stage.name: stage for stage in waiting.current}
            shown.update(loading, visible=not current)
            for name, task in tasks.items():
                stage = current.get(name)
                shown.update(task, visible=stage is not None)
                if stage:
                    shown.update(task, description=f"{name} {stage.text}", completed=stage.share)

        yield update


@contextmanager
def _lines(waiting: Waiting) -> Iterator[Callable[[], None]]:
    ended = Event()

    def speak() -> None:
        said: set[str] = set()
        spoke = 0.0
        while not ended.wait(PATIENCE):
            names = {stage.name for stage in waiting.current}
            if not names <= said or (names and time.monotonic() - spoke >= AGAIN):
                warn(waiting.line())
                said, spoke = said | names, time.monotonic()

    speaker = Thread(target=speak, daemon=True)
    speaker.start()
    try:
        yield lambda: None
    finally:
        ended.set()
        speaker.join()
