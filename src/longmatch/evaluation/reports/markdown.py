"""The tables in Markdown."""

from collections.abc import Sequence

from longmatch.evaluation.reports.cells import MARKS, Cell, Table, milliseconds, tables
from longmatch.evaluation.rows import Row


def to_markdown(rows: Sequence[Row]) -> str:
    """All tables, best values in bold."""
    parts = ["# Results", "", "In percent. " + MARKS.replace("*", r"\*"), ""]
    for table in tables(rows):
        parts += [f"## {table.title}", "", *table_lines(table), "", *fidelity_lines(table)]
    return "\n".join(parts).rstrip() + "\n"


def table_lines(table: Table) -> list[str]:
    """One table."""
    head = ["model", *table.measures, "ms a document", "unhandled"]
    lines = [_line(head), _line(["---"] + ["---:"] * (len(head) - 1))]
    for row in table.rows:
        cells = [table.cell(row, measure) for measure in table.measures]
        shown = ["" if c is None else _cell(c) for c in cells]
        lines.append(_line([row.run.model, *shown, milliseconds(row), str(len(row.run.unhandled))]))
    return lines


def fidelity_lines(table: Table) -> list[str]:
    """How true the explanations are, if that was measured."""
    if not table.fidelity:
        return []
    lines = [
        "The score lost by deleting the tenth of the sentences the explanation names first, and a random tenth; the "
        "score that the same sentences have alone.",
        "",
        _line(["model", "pairs", "named deleted", "random deleted", "ratio", "named alone", "random alone"]),
        _line(["---"] + ["---:"] * 6),
    ]
    for row in table.fidelity:
        f = row.fidelity or {}
        deletion, insertion = f["deletion"], f["insertion"]
        ratio = "" if deletion["ratio"] is None else f"{deletion['ratio']:.1f}"
        values = [deletion["named"], deletion["random"], insertion["named"], insertion["random"]]
        named, random, alone, random_alone = (f"{100 * value:.1f}" for value in values)
        lines.append(_line([row.run.model, str(f["pairs"]), named, random, ratio, alone, random_alone]))
    return [*lines, ""]


def _cell(cell: Cell) -> str:
    value, marks = f"{100 * cell.value:.1f}", cell.marks.replace("*", r"\*")
    return f"**{value}**{marks}" if cell.best else value + marks


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
