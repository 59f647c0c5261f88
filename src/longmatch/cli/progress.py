"""Progress on standard error, so that standard output holds the answer alone."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

from longmatch.cli.printing import Terminal, warn

if TYPE_CHECKING:
    from longmatch.matching.matcher import Matcher
    from longmatch.matching.matcher import Progress as Report


@contextmanager
def progress(what: str, total: int | None = None) -> Iterator["Report"]:
    """Show a transient progress bar; call the function it yields with the number of steps taken."""
    columns = [SpinnerColumn(), TextColumn("{task.description}")]
    bar = [BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()] if total else []
    console = Terminal(stderr=True)  # in a file or a pipe a bar would leave blank lines
    with Progress(*columns, *bar, console=console, transient=True, disable=not console.is_terminal) as shown:
        task = shown.add_task(what, total=total)
        with scanned_pages(lambda pages: shown.update(task, description=f"{what}{pages}")):
            yield lambda steps: shown.update(task, advance=steps)


@contextmanager
def scanned_pages(show: Callable[[str], None]) -> Iterator[None]:
    """Call `show` with how many pages of a scan have been read, as pages are read by OCR in this block."""
    from longmatch.documents import ocr

    def on_page(done: int, total: int) -> None:
        show(f" (OCR {done:,} of {total:,} pages)" if done < total else "")

    with ocr.watching(on_page):
        yield


def load_model(name: str) -> "Matcher":
    """Open a model under a spinner: loading the libraries takes seconds."""
    with progress("loading the model"):
        from longmatch.models.loading import load

        return load(name)


def report(matcher: "Matcher | None") -> None:
    """Print what the work of a model took, where it keeps count."""
    if matcher and (line := matcher.report()):
        warn(line)
