"""A ranking: one line a document, and under it the passages that speak for it."""

from collections.abc import Iterable
from typing import Protocol

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from longmatch.matching.match import Alignment
from longmatch.matching.render.terminal.passages import marked
from longmatch.matching.render.terminal.printable import printable

BAR = 12  # characters
PASSAGES = 1  # shown for each document


class Ranked(Protocol):
    """A document found."""

    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def title(self) -> str: ...  # noqa: D102
    @property
    def score(self) -> float: ...  # noqa: D102
    @property
    def percentile(self) -> float: ...  # noqa: D102
    @property
    def why(self) -> tuple[Alignment, ...]: ...  # noqa: D102


def print_ranking(hits: Iterable[Ranked], console: Console) -> None:
    """Print documents in the order given, each with its score, its percentile and its best passage."""
    found = list(hits)
    if not found:
        console.print(Text("Nothing found."))
        return
    digits = len(str(len(found)))
    for number, hit in enumerate(found, 1):
        full = round(min(max(hit.score, 0.0), 1.0) * BAR)
        line = Text.assemble(
            (f"{number:>{digits}}. ", "bold"),
            (f"{hit.score:.2f} ", "bold"),
            ("█" * full, "blue"),
            ("░" * (BAR - full), "dim"),
            "  ",
            (printable(hit.title), "bold"),
        )
        console.print(line)
        indent = digits + 2
        console.print(
            Padding(
                Text(f"{printable(hit.id)}, above {hit.percentile:.0f}% of the collection", "dim"), (0, 0, 0, indent)
            )
        )
        for pair in hit.why[:PASSAGES]:
            quote = marked(pair.b.shown, pair.words)
            console.print(Padding(Text.assemble("“", quote, "”"), (0, 0, 0, indent)))
