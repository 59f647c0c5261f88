"""The result of `longmatch.evaluate`."""

from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from longmatch.lab.evaluation.reports.markdown import to_markdown
from longmatch.lab.evaluation.result_rows import ResultRow

WIDTH = 120  # columns of a printed report


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

        from longmatch.lab.evaluation.reports.terminal import print_rows

        console = Console(file=StringIO(), width=WIDTH, color_system=None)
        print_rows(self.rows, console)
        return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        sets = ", ".join(dict.fromkeys(row.run.data for row in self.rows))
        return f"<Report of {len(self)} rows on {sets}, written to {self.out}>"

    def _repr_markdown_(self) -> str:
        return self.to_markdown()
