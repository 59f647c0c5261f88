"""Rankings, sections found, and the structure of documents for a terminal. Without colours nothing is lost."""

from collections import Counter
from collections.abc import Iterable

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from longmatch.controls import without_controls
from longmatch.documents.document import RUNNING_KINDS, Document
from longmatch.matching.hits import Hit, Hits, SectionHits
from longmatch.matching.match import Passage
from longmatch.matching.presentable import is_sentence
from longmatch.matching.wording import count, facts, label
from longmatch.render.view import mark_words
from longmatch.render.wording import bibliographic, in_words, page_label

BAR = 12  # characters
LONGEST = 600  # characters of a passage shown; the page shows all of it
COPY = "copy of the query"


def printable(text: str) -> str:
    """Document text made safe for a terminal: on one line, without the characters that it would take as commands.

    >>> printable("all clear \\x1b[2J, next\\nline")
    'all clear [2J, next line'
    """
    return " ".join(without_controls(text, " ").split())


def probability_bar(probability: float, width: int) -> Text:
    """A probability, and two spaces."""
    full = round(probability * width)
    return Text.assemble(("█" * full, "blue"), ("░" * (width - full), "dim"), "  ")


def rank_bar(number: int, total: int) -> Text:
    """A place in an order, from 0, whose bar is full, and two spaces; unlike the bar of a probability."""
    full = round((total - number) / total * BAR)
    return Text.assemble(("━" * full, "dim"), ("┈" * (BAR - full), "dim"), "  ")


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


def print_ranking(hits: Hits, console: Console) -> None:
    """Print documents in the order given, each with its verdict and its best pair of passages, below the remarks."""
    _print_remarks(hits.remarks, console)
    if not hits:
        console.print(Text("Nothing found."))
    digits = len(str(len(hits)))
    for number, hit in enumerate(hits):
        _print_hit(hit, f"{number + 1:>{digits}}. ", rank_bar(number, len(hits)), console)


def _print_remarks(remarks: Iterable[str], console: Console) -> None:
    for sentence in remarks:
        console.print(Text(printable(sentence)))
        console.print()


def _print_hit(hit: Hit, number: str, place: Text, console: Console) -> None:
    """A hit without a verdict has a bar of its place in the order instead."""
    title = Text(printable(hit.title), "bold")
    below = [Text(printable(hit.id), "dim")]
    if hit.relation == "copy":
        below[0].append(f"  {COPY}", "bold red")
    for pair in hit.why[:1]:
        below.append(_passage("query", pair.a, pair.words))
        below.append(_passage("match in other words" if pair.paraphrase else "match", pair.b, pair.words))
    if hit.probability is None:
        beside = Table.grid()  # further lines of a title do not run under the bar
        beside.add_column(no_wrap=True)
        beside.add_row(Text.assemble((number, "bold"), place), title)
        console.print(beside)
    else:
        bar = probability_bar(hit.probability, BAR)
        console.print(Text.assemble((number, "bold"), bar, in_words(hit.probability)))
        below.insert(0, title)
    for line in below:
        _print_below(line, console, len(number))


def _passage(side: str, passage: Passage, words: tuple[str, ...]) -> Text:
    """A passage in quotation marks, below its heading if it is no whole sentence."""
    heading = "" if is_sentence(passage.shown) or not passage.section else f"{printable(passage.section)}: "
    page = page_label(passage.page)
    return Text.assemble(
        (f"{side}, {page} " if page else f"{side} ", "dim"), heading, "“", marked(passage.shown, words), "”"
    )


def print_sections(hits: SectionHits, console: Console) -> None:
    """Print each section with its place in the order, its document and the sentence that answers best."""
    if not hits:
        console.print(Text("Nothing found."))
        return
    _print_remarks(hits.remarks, console)
    digits = len(str(len(hits)))
    for number, hit in enumerate(hits):
        bar = rank_bar(number, len(hits))
        console.print(Text.assemble((f"{number + 1:>{digits}}. ", "bold"), bar, (printable(hit.path), "bold")))
        place = f"{printable(hit.title)} ({printable(hit.id)}{_page(hit.page)})"
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


def print_structure(document: Document, console: Console) -> None:
    """Print title, size, author, year and DOI, the tree of sections, and how many paragraphs of each kind there are."""
    console.print(Text(printable(document.title), "bold"))
    console.print(Text(facts(document)))
    if known := bibliographic(document):
        console.print(Text(printable(known)))
    console.print()
    top = Tree("", hide_root=True)
    branches: list[tuple[int, Tree]] = [(0, top)]
    for section in document.sections:
        while branches[-1][0] >= section.level:
            branches.pop()
        name = label(section.heading, document.readable[section.start : section.start + 200])
        sentences = sum(len(paragraph.sentences) for paragraph in section.paragraphs)
        sizes = f"  {count(len(section.paragraphs), 'paragraph')}, {count(sentences, 'sentence')}"
        branches.append((section.level, branches[-1][1].add(Text.assemble(printable(name), (sizes, "dim")))))
    console.print(top)
    kinds = Counter(paragraph.kind for paragraph in document.paragraphs).most_common()
    if kinds:
        listed = (f"{number:,} {kind}{'' if kind in RUNNING_KINDS else ' (not scored)'}" for kind, number in kinds)
        console.print()
        console.print(Text(f"Paragraphs by kind: {', '.join(listed)}."))
