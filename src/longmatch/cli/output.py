"""Everything that commands print or write goes through here: what strangers wrote never commands the terminal."""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any, TextIO

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from longmatch.controls import CONTROLS, without_controls
from longmatch.errors import LongmatchError

STANDARD_OUTPUT = "-"

PAGE, TABLE = (".html", ".htm"), (".csv", ".tsv")  # how the files end that may be replaced


def check_output(path: Path, suffixes: Sequence[str], inputs: Sequence[str | Path | None] = ()) -> None:
    """Refuse, before anything is computed, to write over a document: a file that is read, or of another kind."""
    if not path.is_file():
        return
    if any(given is not None and _is_same(path, given) for given in inputs):
        raise LongmatchError(f"{path} is read here, and would be overwritten. Name another file to write to.")
    if path.suffix.lower() not in suffixes:
        ends = " or ".join(suffixes)
        raise LongmatchError(f"{path} exists and does not end in {ends}. Name another file, or remove it first.")


def _is_same(path: Path, given: str | Path) -> bool:
    try:
        return path.samefile(given)
    except (OSError, ValueError):  # an id, or a name no file can have
        return False


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Make the folder of a file to write; one sentence where it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise LongmatchError(f"{path} cannot be written ({error.strerror}). Name another file.") from error


@contextmanager
def opened_output(file: str) -> Iterator[TextIO]:
    """A file to write a table or an export to, or standard output."""
    if file == STANDARD_OUTPUT:
        with exact_output() as out:
            yield out
        return
    with writing(Path(file)), Path(file).open("w", encoding="utf-8", errors="replace", newline="") as opened:
        yield opened


class Terminal(Console):
    """Rich's console. Only its own codes reach the terminal; those in texts are taken out."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of something, with clean texts."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else without_controls(text), style, control)


def echo(text: str) -> None:
    """Print lines."""
    typer.echo(without_controls(text))


def echo_json(value: Any, indent: int | None = 2) -> None:
    """Print JSON; the characters that its own rules leave as they are are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    typer.echo(CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


@contextmanager
def exact_output() -> Iterator[TextIO]:
    """Standard output for what must stay as it is; where that is a terminal, each such character is replaced."""
    if not sys.stdout.isatty():
        yield sys.stdout
        return
    kept = StringIO()
    yield kept
    sys.stdout.write(without_controls(kept.getvalue(), "\ufffd"))


def warn(sentence: object) -> None:
    """Print a sentence to standard error."""
    Terminal(stderr=True, soft_wrap=True, highlight=False).print(f"longmatch: {sentence}", markup=False)
