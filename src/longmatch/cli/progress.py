"""Progress on standard error, so that standard output holds the answer alone.

Indexing says what it waits for by name: bars on a terminal, a line now and then in a file or a pipe.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, NamedTuple

from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from longmatch.cli.interrupt import orderly_interrupts
from longmatch.cli.output import Terminal, warn

if TYPE_CHECKING:
    from longmatch.library.indexing import IndexingProgress, OnProgress
    from longmatch.matching.matcher import Matcher
    from longmatch.matching.matcher import Progress as Report

PATIENCE = 3.0  # seconds before anything is said in a pipe
AGAIN = 30.0  # seconds before it is said again, unless another stage has begun
INDEX = 0.08  # of all the time, which the index takes after the last document is written
LEAST_SHARE, LEAST_SECONDS = 0.02, 10.0  # one of them is done or gone before a pace is believed
STOPPED_EARLY = "stopped. Nothing new is kept yet; run the same command again to start from the beginning."


@contextmanager
def progress(what: str, total: int | None = None) -> Iterator["Report"]:
    """Show a transient progress bar; call the function it yields with the number of steps taken."""
    from longmatch.documents import ocr

    columns = [SpinnerColumn(), TextColumn("{task.description}")]
    bar = [BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()] if total else []
    console = Terminal(stderr=True)  # in a file or a pipe a bar would leave blank lines
    with Progress(*columns, *bar, console=console, transient=True, disable=not console.is_terminal) as shown:
        task = shown.add_task(what, total=total)

        def on_page(done: int, total: int) -> None:
            pages = f" (OCR {done:,} of {total:,} pages)" if done < total else ""
            shown.update(task, description=f"{what}{pages}")

        with ocr.watching(on_page):
            yield lambda steps: shown.update(task, advance=steps)


def load_model(name: str) -> "Matcher":
    """Open a model under a spinner: loading the libraries takes seconds."""
    with progress("loading the model"):
        from longmatch.models.loading import load

        return load(name)


def report(matcher: "Matcher | None") -> None:
    """Print what the work of a model took, where it keeps count."""
    if matcher and (line := matcher.report()):
        warn(line)


class Stage(NamedTuple):
    """A kind of work that is under way, how much of it is done (0 to 1), and what to say of it."""

    name: str
    share: float
    text: str


def stages(now: "IndexingProgress | None", pages: tuple[int, int] = (0, 0)) -> list[Stage]:
    """What is waited for; `pages` are those that OCR has read of the present scan, and has to read."""
    from longmatch.matching.wording import count

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
        is_known = share - before >= LEAST_SHARE or now - begun >= LEAST_SECONDS
        if before < share != said and is_known:  # said again, it is no news of the pace
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
def indexing() -> Iterator["OnProgress"]:
    """Live progress of reading, OCR, encoding and writing; on Ctrl-C one sentence says what is kept."""
    with orderly_interrupts():
        try:
            with shown_progress() as report:
                yield report
        except KeyboardInterrupt as interrupt:
            warn(str(interrupt) or STOPPED_EARLY)
            raise


@contextmanager
def shown_progress() -> Iterator["OnProgress"]:
    """Show on standard error what the block waits for, as told by the function that it is given."""
    from longmatch.documents import ocr

    waiting, console = Waiting(), Terminal(stderr=True)
    spinner = Spinner("dots", style="progress.spinner")

    def bars() -> Table:
        """A line for each stage, with its countdown."""
        table = Table.grid(padding=(0, 1))
        for stage in waiting.current:
            bar, left = ProgressBar(1.0, stage.share, 20), Text(waiting.left(stage.name), "cyan")
            table.add_row(spinner, f"{stage.name} {stage.text}", bar, left)
        if not table.rows:
            table.add_row(spinner, "loading", ProgressBar(None, width=20))
        return table

    shown = Live(get_renderable=bars, console=console, transient=True) if console.is_terminal else None
    with shown or _lines(waiting), ocr.watching(waiting.report_page):
        yield waiting.report


@contextmanager
def _lines(waiting: Waiting) -> Iterator[None]:
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
        yield
    finally:
        ended.set()
        speaker.join()
