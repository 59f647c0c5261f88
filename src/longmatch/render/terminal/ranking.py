"""A ranking: how likely each document belongs with the query, and the passages that speak for it."""

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from longmatch.matching.hits import Hit, Hits
from longmatch.matching.match import Passage
from longmatch.matching.presentable import Quality, quality
from longmatch.render.terminal.bars import probability_bar, rank_bar
from longmatch.render.terminal.passages import marked
from longmatch.render.terminal.printable import printable
from longmatch.render.verdict import in_words, place_in_order
from longmatch.render.wording import page_label

BAR = 12  # characters
PASSAGES = 1  # pairs shown for each document
COPY = "copy of the query"


def print_ranking(hits: Hits, console: Console) -> None:
    """Print documents in the order given, each with its verdict and its best pair of passages, below the remarks."""
    for sentence in hits.remarks:
        console.print(Text(sentence))
        console.print()
    if not hits:
        console.print(Text("Nothing found."))
        return
    digits = len(str(len(hits)))
    for number, hit in enumerate(hits):
        _print_hit(f"{number + 1:>{digits}}. ", place_in_order(number, len(hits)), hit, console)


def _print_hit(number: str, place: float, hit: Hit, console: Console) -> None:
    """A hit without a verdict has a bar of its place in the order instead, which looks otherwise."""
    title = Text(printable(hit.title), "bold")
    below = [Text(printable(hit.id), "dim")]
    if hit.relation == "copy":
        below[0].append(f"  {COPY}", "bold red")
    for pair in hit.why[:PASSAGES]:
        below += [
            _passage("query", pair.a, pair.words),
            _passage("match in other words" if pair.paraphrase else "match", pair.b, pair.words),
        ]
    if hit.probability is None:
        console.print(_beside(Text.assemble((number, "bold"), *rank_bar(place, BAR)), title))
    else:
        bar = probability_bar(hit.probability, BAR)
        console.print(Text.assemble((number, "bold"), *bar, in_words(hit.probability)))
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
