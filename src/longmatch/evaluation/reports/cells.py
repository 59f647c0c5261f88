"""What stands in a table's cells, in the terminal and in Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass

from longmatch.evaluation.rows import Row

MARKS = (
    "+ and - : significantly better and worse than tfidf; * : significantly better than the best other row (p < 0.05)."
)


@dataclass(frozen=True)
class Cell:
    """A value in percent, and what is to be said of it."""

    value: float
    best: bool
    marks: str

    @property
    def text(self) -> str:
        """The value and its marks: `51.1+`."""
        return f"{100 * self.value:.1f}{self.marks}"


@dataclass(frozen=True)
class Table:
    """A set's rows, best first by the first measure."""

    title: str
    measures: list[str]
    rows: list[Row]

    @staticmethod
    def of(rows: Sequence[Row]) -> "Table":
        """From rows of one group."""
        measures = list(dict.fromkeys(name for row in rows for name in row.measures))
        run = rows[0].run
        asked = f"{len(run.answers)} queries" if run.answers else f"{len(run.sources)} pairs"
        title = f"{run.data}, {run.split}: {asked}, {run.documents} documents"
        first = measures[0] if measures else ""
        return Table(title, measures, sorted(rows, key=lambda row: (-row.measures.get(first, -1.0), row.run.model)))

    def cell(self, row: Row, measure: str) -> Cell | None:
        """One cell, None where the row lacks the measure."""
        if measure not in row.measures:
            return None
        best = max(other.measures.get(measure, -1.0) for other in self.rows)
        return Cell(row.measures[measure], row.measures[measure] == best, _marks(row, measure))

    @property
    def fidelity(self) -> list[Row]:
        """The rows whose explanations were measured."""
        return [row for row in self.rows if row.fidelity]


def tables(rows: Sequence[Row]) -> list[Table]:
    """One table a group of rows."""
    groups: dict[object, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.run.group, []).append(row)
    return [Table.of(group) for group in groups.values()]


def milliseconds(row: Row) -> str:
    """Encoding time of one document."""
    return f"{1000 * row.seconds_per_document:.1f}"


def _marks(row: Row, measure: str) -> str:
    marks = ""
    against = row.against_tfidf.get(measure)
    if against and against.significant:
        marks += "+" if against.difference > 0 else "-"
    other = row.best_other.get(measure)
    if other and other[1].significant and other[1].difference > 0:
        marks += "*"
    return marks
