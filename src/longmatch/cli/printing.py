"""Everything that commands print goes through here: what strangers wrote never commands the terminal."""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any, TextIO

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from longmatch.controls import CONTROLS, without_controls


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
