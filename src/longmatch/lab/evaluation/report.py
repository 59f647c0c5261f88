"""The result of `longmatch.evaluate`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from longmatch.lab.evaluation.measures import RankingMeasure, parse
from longmatch.lab.evaluation.result_rows import ResultRow

WIDTH = 120  # columns of a printed report
MARKS = (
    "+ and - : significantly better and worse than tfidf; * : significantly better than the best other row (p < 0.05)."
)
TRAINED_MARKS = " ^ : a trained row, significantly better than the best untrained row."
SEVERAL_SEEDS = " x±y : mean and standard deviation over several trainings."
EXPLANATIONS = (
    "The score lost by deleting the tenth of the sentences that contribute most, and a random tenth; the score of the "
    "same sentences alone."
)
NAME = 24  # columns; a longer name is wrapped
CHANGE = " change: of the first measure, by shuffling the sections; ! where significant."


@dataclass(frozen=True, repr=False)
class Report:
    """The rows of an evaluation, one per data set and model, and the folder their files were written to.

    `print(report)` shows the tables with significance marks, a notebook renders them as Markdown; `report.rows` have
    the measures, intervals and comparisons.
    """

    rows: tuple[ResultRow, ...]
    out: Path

    def __iter__(self) -> Iterator[ResultRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as in results.json."""
        return [row.to_dict() for row in self.rows]

    def to_markdown(self) -> str:
        """The tables in Markdown, as in results.md."""
        return to_markdown(self.rows)

    def __str__(self) -> str:
        from rich.console import Console

        console = Console(file=StringIO(), width=WIDTH, color_system=None)
        print_rows(self.rows, console)
        return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        sets = ", ".join(dict.fromkeys(row.run.data for row in self.rows))
        return f"<Report of {len(self)} rows on {sets}, written to {self.out}>"

    def _repr_markdown_(self) -> str:
        return self.to_markdown()


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
        ordered = sorted(measured, key=lambda row: (-row.measures.get(first, -1.0), row.model))
        return ResultTable(title, measures, ordered)

    def cell(self, row: ResultRow, measure: str, markdown: bool) -> str:
        """A value with its deviation over the seeds and its marks, bold if it is the best; empty where it is missing.

        In Markdown `**51.1±0.4**+`; for a terminal, whose columns are narrow, the deviation is on a second line.
        """
        if measure not in row.measures:
            return ""
        value, deviation, marks = row.measures[measure], row.deviation(measure), ""
        against = row.against_tfidf.get(measure)
        if against and against.significant:
            marks += "+" if against.difference > 0 else "-"
        for best, mark in ((row.best_untrained.get(measure), "^"), (row.best_other.get(measure), "*")):
            if best and best[1].significant and best[1].difference > 0:
                marks += mark
        number, spread = f"{100 * value:.1f}", "" if deviation is None else f"±{100 * deviation:.1f}"
        is_best = value == max(other.measures.get(measure, -1.0) for other in self.rows)
        if markdown:
            return (f"**{number}{spread}**" if is_best else number + spread) + marks.replace("*", r"\*")
        text = number + marks + (f"\n{spread}" if spread else "")
        return f"[bold]{text}[/bold]" if is_best else text

    @property
    def legend(self) -> str:
        """Explains the marks."""
        parts = [MARKS]
        parts += [TRAINED_MARKS] if any(row.trained for row in self.rows) else []
        parts += [SEVERAL_SEEDS] if any(len(row.runs) > 1 for row in self.rows) else []
        if any(isinstance(parse(name), RankingMeasure) for name in self.measures):
            for row in self.rows:
                if row.depth:
                    first = f"reranks {row.first_stage}'s best {row.depth}"
                    parts.append(f" {row.model} : {first} and finds no others.")
        return "".join(parts)

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


def to_markdown(rows: Sequence[ResultRow]) -> str:
    """All tables, best values in bold."""
    all_tables = tables(rows)
    legend = max((table.legend for table in all_tables), key=len, default="")
    parts = ["# Results", "", ("In percent. " + legend).replace("*", r"\*"), ""]
    for table in all_tables:
        head = ["model", *table.measures, "ms per document", "unhandled"]
        parts += [f"## {table.title}", "", _line(head), _line(["---"] + ["---:"] * (len(head) - 1))]
        for row in table.rows:
            cells = [table.cell(row, measure, markdown=True) for measure in table.measures]
            parts.append(_line([row.model, *cells, milliseconds(row), str(len(row.unhandled))]))
        parts.append("")
        if table.shuffled:
            parts += ["Compared with the same model over sections in their original order:", ""]
            parts += [_line(["model", *table.measures]), _line(["---"] + ["---:"] * len(table.measures))]
            for row in table.shuffled:
                changes = [row.unshuffled.get(name) for name in table.measures]
                cells = [f"{100 * each.difference:+.1f} (p = {each.p:.3f})" if each else "" for each in changes]
                parts.append(_line([row.model, *cells]))
            parts.append("")
    done: set[int] = set()
    for table in all_tables:  # once per set, whatever the protocols
        new = [row for row in table.fidelity if id(row) not in done]
        done |= {id(row) for row in new}
        if new:
            parts += [f"## {new[0].run.data}: explanations", "", EXPLANATIONS, ""]
            head = ["model", "pairs", "named deleted", "random deleted", "ratio", "named alone", "random alone"]
            parts += [_line(head), _line(["---"] + ["---:"] * 6)]
        for row in new:
            found = row.fidelity or {}
            deletion, insertion = found["deletion"], found["insertion"]
            ratio = "" if deletion["ratio"] is None else f"{deletion['ratio']:.1f}"
            values = deletion["named"], deletion["random"], insertion["named"], insertion["random"]
            named, random, alone, random_alone = (f"{100 * value:.1f}" for value in values)
            parts.append(_line([row.model, str(found["pairs"]), named, random, ratio, alone, random_alone]))
        parts += [""] if new else []
    return "\n".join(parts).rstrip() + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def print_rows(rows: Sequence[ResultRow], console: Console) -> None:
    """Print one table per set and protocol, best values in bold."""
    for table in tables(rows):
        shown = Table(box=SIMPLE, padding=(0, 1, 0, 0))
        longest = max(len(word) for row in table.rows for word in row.model.split())
        shown.add_column("model", min_width=min(NAME, longest), max_width=NAME, overflow="fold")
        measures = []  # recall@k equals HR@k, and mrr_released is for old tables only: both are in the files alone
        for name in table.measures:
            twin = "MRR" if name == "mrr_released" else name.replace("recall@", "HR@")
            if twin == name or twin not in table.measures:
                measures.append(name)
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
            values = [table.cell(row, measure, markdown=False) for measure in measures]
            extra = [milliseconds(row)]
            if any(other.unhandled for other in table.rows):
                extra.append(str(len(row.unhandled)))
            if table.fidelity:
                ratio = row.fidelity["deletion"]["ratio"] if row.fidelity else None
                extra.append("" if ratio is None else f"{ratio:.1f}x")
            if table.shuffled:
                change = row.unshuffled.get(measures[0])
                mark = "!" if change and change.significant else ""
                extra.append(f"{100 * change.difference:+.1f}{mark}" if change else "")
            shown.add_row(row.model, *values, *extra)
        legend = table.legend + " ms: encoding time per document." + (CHANGE if table.shuffled else "")
        console.print(Text(table.title, "italic"), shown, Text(legend, "dim italic"))
