"""The tables in the terminal."""

from collections.abc import Sequence

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from longmatch.lab.evaluation.reports.tables import milliseconds, tables
from longmatch.lab.evaluation.result_rows import ResultRow

NAME = 24  # columns; a longer name is wrapped
CHANGE = " change: of the first measure, by shuffling the sections; ! where significant."


def print_rows(rows: Sequence[ResultRow], console: Console) -> None:
    """Print one table per set and protocol, best values in bold."""
    for table in tables(rows):
        shown = Table(box=SIMPLE, padding=(0, 1, 0, 0))
        longest = max(len(word) for row in table.rows for word in row.model.split())
        shown.add_column("model", min_width=min(NAME, longest), max_width=NAME, overflow="fold")
        measures = [name for name in table.measures if not _is_redundant(name, table.measures)]
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
        legend = table.legend + " ms: encoding time per document." + (CHANGE if table.shuffled else "")
        console.print(Text(table.title, "italic"), shown, Text(legend, "dim italic"))


def _change(row: ResultRow, measure: str) -> str:
    comparison = row.unshuffled.get(measure)
    if comparison is None:
        return ""
    return f"{100 * comparison.difference:+.1f}" + ("!" if comparison.significant else "")


def _is_redundant(name: str, others: Sequence[str]) -> bool:
    """recall@k equals HR@k, and mrr_released is for old tables only: both are in the files, not on the screen."""
    return name.replace("recall@", "HR@") in [o for o in others if o != name] or (
        name == "mrr_released" and "MRR" in others
    )
