"""Text that stands in both documents, and what changed between two versions, for a terminal."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from longmatch.documents.document import brief
from longmatch.matching.match import Match
from longmatch.render.terminal.printable import printable
from longmatch.render.wording import count, how_exactly, label, section_note, section_status
from longmatch.reuse.revision import Revision

PASSAGES = 3  # shown
CELLS = 20  # of tables shown
LONGEST = 300  # characters of a passage shown
STYLES: dict[str, str] = {"unchanged": "dim", "renumbered": "dim", "moved": "blue", "added": "green", "removed": "red"}


def print_reuse(match: Match, console: Console) -> None:
    """Print the longest passages that stand in both documents."""
    passages, unit = match.reuse.passages, match.reuse.unit
    left_out = len(passages) - PASSAGES
    console.print(
        Text("The same text in both", "bold"), Text(f"({left_out:,} more not shown)" if left_out > 0 else "", "dim")
    )
    for passage in passages[:PASSAGES]:
        how = "in many documents" if passage.common else how_exactly(passage.unchanged, unit)
        text = printable(brief(passage.a.of(match.a.readable), LONGEST))
        console.print(Text.assemble((f"  {count(passage.words, unit)}, {how}: ", "yellow"), f"“{text}”"))
    console.print()


def print_sections(revision: Revision, console: Console) -> None:
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
