"""The tables in the terminal."""

from collections.abc import Sequence

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table as RichTable

from longmatch.lab.evaluation.reports.cells import milliseconds, tables
from longmatch.lab.evaluation.rows import Row

NAME = 24  # columns; a longer name takes another line

CHANGE = " change: of the first measure, against the sections in their own order, ! where significant."


def print_rows(rows: Sequence[Row], console: Console) -> None:
    """One table a set, best values in bold."""
    for table in tables(rows):
        shown = RichTable(
            title=table.title,
            box=SIMPLE,
            padding=(0, 1, 0, 0),
            title_justify="left",
            caption=table.legend + " ms: encoding, a document." + (CHANGE if table.shuffled else ""),
            caption_justify="left",
        )
        longest = max(len(word) for row in table.rows for word in row.model.split())
        shown.add_column("model", min_width=min(NAME, longest), max_width=NAME, overflow="fold")
        measures = [name for name in table.measures if not _said_elsewhere(name, table.measures)]
        for measure in measures:
            shown.add_column(measure.replace("_", " "), justify="right", overflow="fold", min_width=5)
        shown.add_column("ms", justify="right", min_width=5)
        if any(row.unhandled for row in table.rows):
            shown.add_column("unhandled", justify="right")
        if table.fidelity:
            shown.add_column("fidelity", justify="right")
        if table.shuffled:
            shown.add_column("change", justify="right")
        for row in table.rows:
            cells = [table.cell(row, measure) for measure in measures]
            values = ["" if c is None else f"[bold]{c.text}[/bold]" if c.best else c.text for c in cells]
            extra = [milliseconds(row)]
            if any(other.unhandled for other in table.rows):
                extra.append(str(len(row.unhandled)))
            if table.fidelity:
                ratio = row.fidelity["deletion"]["ratio"] if row.fidelity else None
                extra.append("" if ratio is None else f"{ratio:.1f}x")
            if table.shuffled:
                extra.append(_change(row, measures[0]))
            shown.add_row(row.model, *values, *extra)
        console.print(shown)


def _change(row: Row, measure: str) -> str:
    found = row.unshuffled.get(measure)
    return "" if found is None else f"{100 * found.difference:+.1f}" + ("!" if found.significant else "")


def _said_elsewhere(name: str, others: Sequence[str]) -> bool:
    """recall@k is HR@k, and mrr_released is for comparing with old tables: both are in the files, not on the screen."""
    return name.replace("recall@", "HR@") in [o for o in others if o != name] or (
        name == "mrr_released" and "MRR" in others
    )
