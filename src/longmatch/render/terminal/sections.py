"""The sections found for a question, and the sentences found by words."""

from collections.abc import Iterable

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from longmatch.matching.match import Passage
from longmatch.matching.section_hits import SectionHits
from longmatch.render.terminal.bars import rank_bar
from longmatch.render.terminal.passages import marked
from longmatch.render.terminal.printable import printable
from longmatch.render.verdict import place_in_order

BAR = 12  # characters


def print_sections(hits: SectionHits, console: Console) -> None:
    """Print each section with its place in the order, its document and the sentence that answers best."""
    if not hits:
        console.print(Text("Nothing found."))
        return
    for sentence in hits.remarks:
        console.print(Text(sentence))
        console.print()
    digits = len(str(len(hits)))
    for number, hit in enumerate(hits):
        bar = rank_bar(place_in_order(number, len(hits)), BAR)
        console.print(Text.assemble((f"{number + 1:>{digits}}. ", "bold"), *bar, (printable(hit.path), "bold")))
        place = f"{printable(hit.document.title)} ({printable(hit.document.id)}{_page(hit.page)})"
        _print_below(Text(place, "dim"), console, digits + 2)
        _print_below(Text.assemble("“", marked(hit.passage.shown, ()), "”"), console, digits + 2)


def print_snippet(passage: Passage, page: int | None, words: Iterable[str], console: Console) -> None:
    """Print a sentence with what was found in it in bold, after the heading it stands under."""
    place = f"{printable(passage.section)}{_page(page)}".removeprefix(", ")
    head = Text(f"{place}: " if place else "", "dim")
    _print_below(Text.assemble(head, "“", marked(passage.shown, tuple(words)), "”"), console, 3)


def _page(page: int | None) -> str:
    return f", page {page}" if page else ""


def _print_below(line: Text, console: Console, indent: int) -> None:
    console.print(Padding(line, (0, 0, 0, indent)))
