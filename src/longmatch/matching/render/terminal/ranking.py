"""A ranking: each document's score, how likely it belongs with the query, and the passages that speak for it."""

from collections.abc import Iterable
from typing import Protocol

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from longmatch.matching.match import Alignment, Passage
from longmatch.matching.presentable import Quality, quality
from longmatch.matching.render.terminal.passages import marked
from longmatch.matching.render.terminal.printable import printable
from longmatch.matching.render.wording import chance, likelihood, page_label, ranking_remarks

BAR = 12  # characters
PASSAGES = 1  # pairs shown for each document
COPY = "copy of the query"


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
    def probability(self) -> float | None: ...  # noqa: D102
    @property
    def relation(self) -> str | None: ...  # noqa: D102
    @property
    def why(self) -> tuple[Alignment, ...]: ...  # noqa: D102


def print_ranking(hits: Iterable[Ranked], console: Console, remarks: Iterable[str] | None = None) -> None:
    """Print documents in the order given, each with its score, probability, percentile and best pair of passages.

    `remarks` are the sentences above them, by default on their probabilities.
    """
    found = list(hits)
    for sentence in ranking_remarks(hit.probability for hit in found) if remarks is None else remarks:
        console.print(Text(sentence))
        console.print()
    if not found:
        console.print(Text("Nothing found."))
        return
    digits = len(str(len(found)))
    for number, hit in enumerate(found, 1):
        _print_hit(f"{number:>{digits}}. ", hit, console)


def _print_hit(number: str, hit: Ranked, console: Console) -> None:
    full = round(min(max(hit.score, 0.0), 1.0) * BAR)
    bar = [("█" * full, "blue"), ("░" * (BAR - full), "dim")]
    head = Text.assemble((number, "bold"), (f"{hit.score:.2f} ", "bold"), *bar, "  ")
    title = Text(printable(hit.title), "bold")
    below = [Text(f"{printable(hit.id)}, above {hit.percentile:.0f}% of the collection", "dim")]
    if hit.relation == "copy":
        below[0].append(f"  {COPY}", "bold red")
    for pair in hit.why[:PASSAGES]:
        below += [
            _passage("query", pair.a, pair.words),
            _passage("match in other words" if pair.paraphrase else "match", pair.b, pair.words),
        ]
    if hit.probability is None:
        console.print(_beside(head, title))
    else:
        console.print(head.append(f"{likelihood(hit.probability)} ({chance(hit.probability)})"))
        below.insert(0, title)
    for line in below:
        console.print(Padding(line, (0, 0, 0, len(number))))


def _beside(head: Text, title: Text) -> Table:
    """A title beside what stands before it; its further lines do not run under that."""
    row = Table.grid()
    row.add_column(no_wrap=True)
    row.add_row(head, title)
    return row


def _passage(side: str, passage: Passage, words: tuple[str, ...]) -> Text:
    """A passage in quotation marks, below its heading if it is no whole sentence."""
    whole = quality(passage.shown) is Quality.SENTENCE
    heading = "" if whole or not passage.section else f"{printable(passage.section)}: "
    page = page_label(passage.page)
    return Text.assemble(
        (f"{side}, {page} " if page else f"{side} ", "dim"), heading, "“", marked(passage.shown, words), "”"
    )
