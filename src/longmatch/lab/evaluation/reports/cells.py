"""What stands in a table's cells, in the terminal and in Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from longmatch.lab.evaluation.measures import RankingMeasure, parse
from longmatch.lab.evaluation.rows import Row
from longmatch.lab.evaluation.significance import Comparison

MARKS = (
    "+ and - : significantly better and worse than tfidf; * : significantly better than the best other row (p < 0.05)."
)
TRAINED_MARKS = " ^ : a trained row, significantly better than the best row that was not trained."
SEVERAL_SEEDS = " x±y : mean and standard deviation over several trainings."


@dataclass(frozen=True)
class Cell:
    """A value in percent, and what is to be said of it."""

    value: float
    best: bool
    marks: str
    deviation: float | None = None  # over the seeds

    @property
    def number(self) -> str:
        """The value, with its deviation where there is one: `51.1±0.4`."""
        return f"{100 * self.value:.1f}" + ("" if self.deviation is None else f"±{100 * self.deviation:.1f}")

    @property
    def text(self) -> str:
        """The value and its marks, and below them the deviation, as columns of a terminal are narrow."""
        deviation = "" if self.deviation is None else f"\n±{100 * self.deviation:.1f}"
        return f"{100 * self.value:.1f}{self.marks}{deviation}"


@dataclass(frozen=True)
class Table:
    """A set's rows under one protocol, best first by the first measure."""

    title: str
    measures: list[str]
    rows: list[Row]

    @staticmethod
    def of(rows: Sequence[Row], ranking: bool) -> "Table":
        """From rows of one group; those of them that have measures of that kind."""
        found = dict.fromkeys(name for row in rows for name in row.measures)
        measures = [name for name in found if isinstance(parse(name), RankingMeasure) == ranking]
        having = [row for row in rows if any(name in row.measures for name in measures)]
        run = (having or rows)[0].run
        asked = f"{len(run.answers)} queries" if ranking else f"{len(run.sources)} pairs"
        title = f"{run.data}, {run.split}: {asked}, {run.documents} documents"
        first = measures[0] if measures else ""
        return Table(title, measures, sorted(having, key=lambda row: (-row.measures.get(first, -1.0), row.model)))

    def cell(self, row: Row, measure: str) -> Cell | None:
        """One cell, None where the row lacks the measure."""
        if measure not in row.measures:
            return None
        best = max(other.measures.get(measure, -1.0) for other in self.rows)
        value = row.measures[measure]
        return Cell(value, value == best, _marks(row, measure), row.deviation(measure))

    @property
    def legend(self) -> str:
        """What the marks in it mean."""
        trained = TRAINED_MARKS if any(row.trained for row in self.rows) else ""
        seeds = SEVERAL_SEEDS if any(len(row.runs) > 1 for row in self.rows) else ""
        return MARKS + trained + seeds + self._reranked

    @property
    def _reranked(self) -> str:
        """Which rows rank anew what bm25 found."""
        if not any(isinstance(parse(name), RankingMeasure) for name in self.measures):
            return ""
        told = (
            f" {row.model} : bm25's {row.depth} best ranked anew; it finds no others." for row in self.rows if row.depth
        )
        return "".join(told)

    @property
    def fidelity(self) -> list[Row]:
        """The rows whose explanations were measured."""
        return [row for row in self.rows if row.fidelity]

    @property
    def shuffled(self) -> list[Row]:
        """The rows that can be compared with the same model's over sections in their own order."""
        return [row for row in self.rows if any(name in row.unshuffled for name in self.measures)]


def tables(rows: Sequence[Row]) -> list[Table]:
    """One table for each group of rows and each protocol it was measured by."""
    groups: dict[object, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.run.group, []).append(row)
    made = (Table.of(group, ranking) for group in groups.values() for ranking in (True, False))
    return [table for table in made if table.measures]


def milliseconds(row: Row) -> str:
    """Encoding time of one document."""
    return f"{1000 * row.seconds_per_document:.1f}"


def change(found: Mapping[str, Comparison], measure: str) -> str:
    """A difference in percent with its p: `-1.2 (p = 0.034)`."""
    comparison = found.get(measure)
    return "" if comparison is None else f"{100 * comparison.difference:+.1f} (p = {comparison.p:.3f})"


def _marks(row: Row, measure: str) -> str:
    marks = ""
    against = row.against_tfidf.get(measure)
    if against and against.significant:
        marks += "+" if against.difference > 0 else "-"
    for found, mark in ((row.best_untrained.get(measure), "^"), (row.best_other.get(measure), "*")):
        if found and found[1].significant and found[1].difference > 0:
            marks += mark
    return marks
