"""One match for a terminal: verdict, section matrix, what changed or stands in both, the passages that say most."""

from bisect import bisect_right
from collections.abc import Set

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from longmatch.documents.document import brief
from longmatch.matching.match import Match
from longmatch.matching.wording import count, facts, label
from longmatch.render.matrix import SHADES, Matrix
from longmatch.render.terminal import marked, printable, probability_bar
from longmatch.render.wording import (
    both_name,
    carried_by,
    caution,
    deciding_probability,
    how_exactly,
    kind_label,
    nothing_distinctive,
    page_label,
    percent,
    section_note,
    section_status,
    shared_text,
    stated_probability,
    unread,
    verdict,
)
from longmatch.reuse.reuse import ONE_WORDING
from longmatch.reuse.revision import Revision

BAR = 30  # characters
CELL = 5  # characters of a cell of the matrix
MOST_ROWS = 24
LEAST_LABEL, MOST_LABEL = 16, 44  # characters of a row's label
_LIGHT, _DARK = (238, 238, 234), (18, 63, 104)  # the ends of the scale, the same hue as on the page
REUSED = 3  # passages shown that stand in both, with so many characters
REUSED_CHARACTERS = 300
CELLS = 20  # of tables shown
STYLES: dict[str, str] = {"unchanged": "dim", "renumbered": "dim", "moved": "blue", "added": "green", "removed": "red"}


def print_match(match: Match, console: Console, passages: int = 5) -> None:
    """Print a match; it fits any terminal of 60 columns or more."""
    within = match.a is match.b
    for side, document in [("", match.a)] if within else [("A  ", match.a), ("B  ", match.b)]:
        title, size = printable(document.title), f"  ({facts(document)})"
        console.print(Text.assemble((side, "dim"), (title, "bold"), (size, "dim")))
    if within:
        console.print(Text("Its sections against each other."))
    else:
        console.print()
        if (said := verdict(match)) is not None:
            probability, stated = deciding_probability(match), stated_probability(match)
            bar = "" if probability is None else probability_bar(probability, BAR)
            console.print(Text.assemble(bar, (said, "bold"), f" (probability: {stated})." if stated else "."))
    about_two = () if within else (*shared_text(match), caution(match), carried_by(match))
    words = ", ".join(term.text for term in match.terms[:10])
    weighty = f"Shared words that weigh most: {words}." if words else ""
    for sentence in (*about_two, weighty, both_name(match), *unread(match)):
        if sentence:
            console.print(Text(printable(sentence)))
    console.print()
    changed = match.revision.sections if match.relation in ONE_WORDING else ()
    gone, new = ({row.start for row in changed if row.status == status} for status in ("removed", "added"))
    print_matrix(Matrix(match.sections, match.a, match.b, within), console, gone, new)
    console.print()
    if match.relation in ONE_WORDING:
        print_section_changes(match.revision, console)
        print_tables(match.revision, console)
    elif match.relation != "copy" and match.reuse.passages:
        print_reuse(match, console)
    print_passages(match, console, passages)


def print_matrix(matrix: Matrix, console: Console, gone: Set[int] = frozenset(), new: Set[int] = frozenset()) -> None:
    """Print the matrix; of a large one the rows and columns with the strongest cells, in the documents' order.

    Of two versions, the sections of the first that are gone and those that are new are never left out: by their places.
    """
    if not matrix.scores.size:
        console.print(Text("There are no sections to compare.", "dim"))
        return
    room = max(1, (console.width - LEAST_LABEL - 6) // CELL)
    rows, columns = _shown(matrix, room, gone, new)
    for first in range(0, len(columns), room):  # where more are new than fit side by side, one part below the other
        _print_part(matrix, rows, columns[first : first + room], console)
    _print_key(matrix, rows, columns, "" if gone or new else ", weaker than those shown", console)


def _print_part(matrix: Matrix, rows: list[int], columns: list[int], console: Console) -> None:
    a, b = ("", "") if matrix.within else ("A", "B")
    digits = max(len(f"{b}{columns[-1] + 1}"), 2)
    width = console.width - CELL * len(columns) - len(f"{a}{rows[-1] + 1} ") - 1
    number_width = len(f"{a}{rows[-1] + 1}")
    label_width = min(max(len(matrix.rows[row]) for row in rows), width, MOST_LABEL)
    heads = "".join(f"{b}{column + 1}".rjust(digits).center(CELL) for column in columns)
    console.print(Text(f"{'':{number_width + label_width + 2}}{heads.rstrip()}", "dim"))
    for row in rows:
        line = Text(no_wrap=True, overflow="crop")
        line.append(f"{a}{row + 1}".rjust(number_width) + " ", "dim")
        name = Text(printable(matrix.rows[row]))
        name.truncate(label_width, overflow="ellipsis", pad=True)
        line.append_text(name)
        line.append(" ")
        for column in columns:
            share = round(matrix.shares[row, column] * SHADES) / SHADES
            shade = ",".join(str(round(low + (high - low) * share)) for low, high in zip(_LIGHT, _DARK, strict=True))
            ink = "rgb(255,255,255)" if share >= 0.5 else "rgb(60,64,72)"
            number = f"{matrix.scores[row, column]:.2f}".replace("0.00", "·")
            itself = matrix.within and row == column
            line.append(("-" if itself else number).center(CELL), "dim" if itself else f"{ink} on rgb({shade})")
        console.print(line)


def _shown(matrix: Matrix, room: int, gone: Set[int], new: Set[int]) -> tuple[list[int], list[int]]:
    """The rows and columns to show: those of sections that are gone or new, and those with the strongest cells."""
    scores = matrix.scores.copy()
    if matrix.within:
        np.fill_diagonal(scores, 0.0)
    shown = []
    for axis, document, spans, places, most in (
        (1, matrix.a, matrix.grid.row_spans, gone, MOST_ROWS),
        (0, matrix.b, matrix.grid.column_spans, new, room),
    ):
        starts = [section.start for section in document.sections]
        kept = [starts[bisect_right(starts, span.start) - 1] in places for span in spans]
        best = np.where(kept, np.inf, scores.max(axis=axis))
        shown.append(sorted(np.argsort(-best, kind="stable")[: max(most, len(places))].tolist()))
    return shown[0], shown[1]


def _print_key(matrix: Matrix, rows: list[int], columns: list[int], how: str, console: Console) -> None:
    left_out = [
        f"{total - len(shown)} of {total} {name}"
        for name, total, shown in (("rows", len(matrix.rows), rows), ("columns", len(matrix.columns), columns))
        if total > len(shown)
    ]
    if left_out:
        console.print(Text(f"Left out{how}: {' and '.join(left_out)}.", "dim"))
    if matrix.within and columns == rows:
        return
    side = "" if matrix.within else "B"
    width = len(f"{side}{columns[-1] + 1}")
    console.print()
    for column in columns:
        line = Text.assemble((f"{side}{column + 1}".rjust(width), "dim"), " ", printable(matrix.columns[column]))
        line.truncate(console.width, overflow="ellipsis")
        console.print(line)


def print_reuse(match: Match, console: Console) -> None:
    """Print the longest passages that stand in both documents."""
    passages, unit = match.reuse.passages, match.reuse.unit
    left_out = len(passages) - REUSED
    console.print(
        Text("The same text in both", "bold"), Text(f"({left_out:,} more not shown)" if left_out > 0 else "", "dim")
    )
    for passage in passages[:REUSED]:
        how = "in many documents" if passage.common else how_exactly(passage.unchanged, unit)
        text = printable(brief(passage.a.of(match.a.readable), REUSED_CHARACTERS))
        console.print(Text.assemble((f"  {count(passage.words, unit)}, {how}: ", "yellow"), f"“{text}”"))
    console.print()


def print_section_changes(revision: Revision, console: Console) -> None:
    """Print what happened to each section between two versions."""
    console.print(Text("What changed, section by section", "bold"))
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("section", overflow="fold")
    for name in ("", "same", "added", "removed", "moved"):
        table.add_column(name, justify="right" if name else "left")
    for section in revision.sections:
        counts = (section.same, section.added, section.removed, section.moved)
        note = section_note(section)
        heading = Text.assemble(
            printable(label(section.heading, section.opening)), (f" ({printable(note)})" if note else "", "dim")
        )
        status = Text(printable(section_status(section)), STYLES.get(section.status, "yellow"))
        table.add_row(heading, status, *(f"{n:,}" if n else "" for n in counts))
    console.print(table)
    console.print()


def print_tables(revision: Revision, console: Console) -> None:
    """Print the cells that differ between two versions; nothing where none does."""
    changed = [(table, cell) for table in revision.tables for cell in table.cells]
    if not changed:
        return
    left_out = len(changed) - CELLS
    console.print(
        Text("What changed in tables, cell by cell", "bold"),
        Text(f"({left_out:,} more not shown)" if left_out > 0 else "", "dim"),
    )
    shown = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for name in ("table in", "row", "column", "A", "B"):
        shown.add_column(name, overflow="fold")
    for table, cell in changed[:CELLS]:
        status = "" if table.status == "changed" else f" ({table.status})"
        texts = (f"{table.section}{status}", cell.row, cell.column, cell.before, cell.after)
        styles = ("dim", "", "", "red", "green")
        shown.add_row(*(Text(printable(text), style) for text, style in zip(texts, styles, strict=True)))
    console.print(shown)
    console.print()


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
        colour = "yellow" if pair.kind == "keyword" else "blue"
        weight = f", {percent(pair.contribution)} of the match, similarity {pair.score:.2f}"
        line = Text.assemble((f"{number}. ", "bold"), (kind_label(pair), colour), weight)
        if pair.words:
            line.append(f", shared: {printable(', '.join(pair.words))}", "dim")
        console.print(line)
        sides = Table.grid(padding=(0, 3), expand=True)
        headings, texts = [], []
        for document, passage in ((match.a, pair.a), (match.b, pair.b)):
            sides.add_column(ratio=1)
            page = f", {page_label(passage.page)}" if passage.page is not None else ""
            headings.append(Text((printable(passage.section) or "(no heading)") + page, "dim"))
            texts.append(marked(document.readable[passage.start : passage.end], pair.words))
        sides.add_row(*headings)
        sides.add_row(*texts)
        console.print(sides)
