"""The tables of a report, for the terminal and for Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from longmatch.lab.evaluation.measures import RankingMeasure, parse
from longmatch.lab.evaluation.result_rows import ResultRow
from longmatch.lab.evaluation.significance import Comparison

MARKS = (
    "+ and - : significantly better and worse than tfidf; * : significantly better than the best other row (p < 0.05)."
)
TRAINED_MARKS = " ^ : a trained row, significantly better than the best untrained row."
SEVERAL_SEEDS = " x±y : mean and standard deviation over several trainings."


@dataclass(frozen=True)
class Cell:
    """A value and its marks."""

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
        """The value and its marks, with the deviation on a second line: columns of a terminal are narrow."""
        deviation = "" if self.deviation is None else f"\n±{100 * self.deviation:.1f}"
        return f"{100 * self.value:.1f}{self.marks}{deviation}"


@dataclass(frozen=True)
class ResultTable:
    """A set's rows under one protocol, ordered by the first measure, best first."""

    title: str
    measures: list[str]
    rows: list[ResultRow]

    @staticmethod
    def of(rows: Sequence[ResultRow], ranking: bool) -> "ResultTable":
        """The rows of a group that have measures of one kind."""
        names = dict.fromkeys(name for row in rows for name in row.measures)
        measures = [name for name in names if isinstance(parse(name), RankingMeasure) == ranking]
        measured = [row for row in rows if any(name in row.measures for name in measures)]
        run = (measured or rows)[0].run
        size = f"{len(run.answers)} queries" if ranking else f"{len(run.sources)} pairs"
        title = f"{run.data}, {run.split}: {size}, {run.documents} documents"
        first = measures[0] if measures else ""
        return ResultTable(
            title, measures, sorted(measured, key=lambda row: (-row.measures.get(first, -1.0), row.model))
        )

    def cell(self, row: ResultRow, measure: str) -> Cell | None:
        """One cell; None if the row lacks the measure."""
        if measure not in row.measures:
            return None
        best = max(other.measures.get(measure, -1.0) for other in self.rows)
        value = row.measures[measure]
        return Cell(value, value == best, _marks(row, measure), row.deviation(measure))

    @property
    def legend(self) -> str:
        """Explains the marks."""
        trained = TRAINED_MARKS if any(row.trained for row in self.rows) else ""
        seeds = SEVERAL_SEEDS if any(len(row.runs) > 1 for row in self.rows) else ""
        return MARKS + trained + seeds + self._reranked

    @property
    def _reranked(self) -> str:
        """Names the rows that rerank a first stage's results."""
        if not any(isinstance(parse(name), RankingMeasure) for name in self.measures):
            return ""
        return "".join(
            f" {row.model} : reranks {row.first_stage}'s best {row.depth} and finds no others."
            for row in self.rows
            if row.depth
        )

    @property
    def fidelity(self) -> list[ResultRow]:
        """The rows with measured explanations."""
        return [row for row in self.rows if row.fidelity]

    @property
    def shuffled(self) -> list[ResultRow]:
        """The rows compared with the same model over sections in their original order."""
        return [row for row in self.rows if any(name in row.unshuffled for name in self.measures)]


def tables(rows: Sequence[ResultRow]) -> list[ResultTable]:
    """One table for each group of rows and protocol."""
    groups: dict[object, list[ResultRow]] = {}
    for row in rows:
        groups.setdefault(row.run.group, []).append(row)
    every = (ResultTable.of(group, ranking) for group in groups.values() for ranking in (True, False))
    return [table for table in every if table.measures]


def milliseconds(row: ResultRow) -> str:
    """Encoding time per document."""
    return f"{1000 * row.seconds_per_document:.1f}"


def format_change(comparisons: Mapping[str, Comparison], measure: str) -> str:
    """A difference in percent with its p-value: `-1.2 (p = 0.034)`."""
    comparison = comparisons.get(measure)
    return "" if comparison is None else f"{100 * comparison.difference:+.1f} (p = {comparison.p:.3f})"


def _marks(row: ResultRow, measure: str) -> str:
    marks = ""
    against = row.against_tfidf.get(measure)
    if against and against.significant:
        marks += "+" if against.difference > 0 else "-"
    for best, mark in ((row.best_untrained.get(measure), "^"), (row.best_other.get(measure), "*")):
        if best and best[1].significant and best[1].difference > 0:
            marks += mark
    return marks
