"""The tables in Markdown."""

from collections.abc import Sequence

from longmatch.lab.evaluation.reports.tables import Cell, ResultTable, format_change, milliseconds, tables
from longmatch.lab.evaluation.result_rows import ResultRow


def to_markdown(rows: Sequence[ResultRow]) -> str:
    """All tables, best values in bold."""
    all_tables = tables(rows)
    legend = max((table.legend for table in all_tables), key=len, default="")
    parts = ["# Results", "", ("In percent. " + legend).replace("*", r"\*"), ""]
    for table in all_tables:
        parts += [f"## {table.title}", "", *table_lines(table), "", *shuffled_lines(table)]
    done: set[int] = set()
    for table in all_tables:  # once per set, whatever the protocols
        new = [row for row in table.fidelity if id(row) not in done]
        done |= {id(row) for row in new}
        parts += fidelity_lines(new)
    return "\n".join(parts).rstrip() + "\n"


def table_lines(table: ResultTable) -> list[str]:
    """One table."""
    head = ["model", *table.measures, "ms per document", "unhandled"]
    lines = [_line(head), _line(["---"] + ["---:"] * (len(head) - 1))]
    for row in table.rows:
        cells = [table.cell(row, measure) for measure in table.measures]
        shown = ["" if c is None else _cell(c) for c in cells]
        lines.append(_line([row.model, *shown, milliseconds(row), str(len(row.unhandled))]))
    return lines


def shuffled_lines(table: ResultTable) -> list[str]:
    """The effect of shuffling the sections, if measured."""
    if not table.shuffled:
        return []
    lines = ["Compared with the same model over sections in their original order:", ""]
    lines += [_line(["model", *table.measures]), _line(["---"] + ["---:"] * len(table.measures))]
    lines += [
        _line([row.model, *(format_change(row.unshuffled, name) for name in table.measures)]) for row in table.shuffled
    ]
    return [*lines, ""]


def fidelity_lines(rows: Sequence[ResultRow]) -> list[str]:
    """The fidelity of the explanations, if measured."""
    if not rows:
        return []
    lines = [
        f"## {rows[0].run.data}: explanations",
        "",
        "The score lost by deleting the tenth of the sentences that contribute most, and a random tenth; the score "
        "of the same sentences alone.",
        "",
        _line(["model", "pairs", "named deleted", "random deleted", "ratio", "named alone", "random alone"]),
        _line(["---"] + ["---:"] * 6),
    ]
    for row in rows:
        f = row.fidelity or {}
        deletion, insertion = f["deletion"], f["insertion"]
        ratio = "" if deletion["ratio"] is None else f"{deletion['ratio']:.1f}"
        values = [deletion["named"], deletion["random"], insertion["named"], insertion["random"]]
        named, random, alone, random_alone = (f"{100 * value:.1f}" for value in values)
        lines.append(_line([row.model, str(f["pairs"]), named, random, ratio, alone, random_alone]))
    return [*lines, ""]


def _cell(cell: Cell) -> str:
    marks = cell.marks.replace("*", r"\*")
    return f"**{cell.number}**{marks}" if cell.best else cell.number + marks


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
