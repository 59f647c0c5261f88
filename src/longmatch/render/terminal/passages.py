"""Aligned passages side by side, the shared words in bold."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from longmatch.documents.document import Document
from longmatch.matching.match import Alignment, Match, Passage
from longmatch.render.marking import mark_words
from longmatch.render.terminal.printable import printable
from longmatch.render.verdict import nothing_distinctive
from longmatch.render.wording import count, kind_label, page_label, percent

LONGEST = 600  # characters of a passage shown; the page shows all of it


def print_passages(match: Match, console: Console, most: int) -> None:
    """Print the pairs that say most about the two documents."""
    if nothing := nothing_distinctive(match):
        console.print(Text(nothing))
        console.print()
    shown = match.best(most)
    if not shown:
        console.print(Text("No passage of one answers a passage of the other."))
        return
    left_out = len(match.evidence) - len(shown)
    console.print(
        Text("The passages that say most", "bold"), Text(f"({left_out:,} more not shown)" if left_out else "", "dim")
    )
    for number, pair in enumerate(shown, 1):
        console.print()
        console.print(_head(number, pair))
        sides = Table.grid(padding=(0, 3), expand=True)
        sides.add_column(ratio=1)
        sides.add_column(ratio=1)
        sides.add_row(_section(pair.a), _section(pair.b))
        sides.add_row(_body(match.a, pair.a, pair), _body(match.b, pair.b, pair))
        console.print(sides)


def _head(number: int, pair: Alignment) -> Text:
    line = Text.assemble(
        (f"{number}. ", "bold"),
        (kind_label(pair), "yellow" if pair.kind == "keyword" else "blue"),
        f", {percent(pair.contribution)} of the match, similarity {pair.score:.2f}",
    )
    if pair.words:
        line.append(f", shared: {printable(', '.join(pair.words))}", "dim")
    return line


def _body(document: Document, passage: Passage, pair: Alignment) -> Text:
    return marked(document.readable[passage.start : passage.end], pair.words)


def marked(text: str, words: tuple[str, ...]) -> Text:
    """A passage with its shared words in bold, cut after LONGEST characters."""
    body = Text()
    for piece, shared in mark_words(printable(text), words):
        body.append(piece, "bold" if shared else "")
    if len(body) > LONGEST:
        rest = len(body) - LONGEST
        body = body[:LONGEST]
        body.append(f" … ({count(rest, 'character')} more)", "dim")
    return body


def _section(passage: Passage) -> Text:
    page = page_label(passage.page)
    return Text((printable(passage.section) or "(no heading)") + (f", {page}" if page else ""), "dim")
