"""Everything that commands print goes through here: what strangers wrote never commands the terminal."""

import json
import sys
from collections.abc import Iterable
from typing import Any

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


def echo_text(text: str) -> None:
    """Print a document's text as it is, so that offsets hold; for a terminal each such character is replaced."""
    typer.echo(without_controls(text, "\ufffd") if sys.stdout.isatty() else text)


def warn(sentence: object) -> None:
    """Print a sentence to standard error."""
    Terminal(stderr=True, soft_wrap=True, highlight=False).print(f"longmatch: {sentence}", markup=False)
