"""Write SST's table 4 into docs/sst.md: the contribution of each of its parts, from the runs of trained rows.

    python -m longmatch.lab.benchmarks.sst_ablations [--data news] [--having learning_rate=1e-05] [--to docs/sst.md]

The runs are those in benchmarks/results. The rows are those of `longmatch.lab.benchmarks.train`, identified by their
settings; each is tested against the full model. A row that was not measured is left out; where one was trained in
several ways, `--having` selects one. The table replaces the one between two comments of the page. Run it in the
repository's root.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from longmatch.errors import LongmatchError
from longmatch.lab.benchmarks.stored_results import RESULTS, StoredResults
from longmatch.lab.benchmarks.training_rows import ROWS
from longmatch.lab.evaluation.result_rows import ResultRow, compare_rows, rows_without_tests

BEGIN, END = "<!-- table 4: longmatch.lab.benchmarks.sst_ablations -->", "<!-- end of table 4 -->"
FULL = "sst-adaptive-soft"
PARTS = {  # row of `longmatch.lab.benchmarks.train`: what it changes
    FULL: "SST: adaptive subtopics, soft sampling",
    "sst-adaptive-hard": "hard sampling",
    "sst-direct-soft": "direct subtopics",
    "sst-direct-hard": "direct subtopics, hard sampling",
    "sst-one-view": "without aggregation at inference: one view",
    "sst-not-temporal": "without temporal aggregation: every epoch the same view",
    "sst-with-attention": "attention over views in its place",
    "sst-uniform": "uniform sampling",
    "sst-negative": "negative sampling",
    "sst-random": "random sampling, no subtopics",
    "sst-no-separation": "without L_n; one view, every epoch the same",
    "sst-no-agreement": "without L_p; one view, every epoch the same",
    "sst-no-losses": "without both; one view, every epoch the same",
}
KEYS = {key for part in PARTS for key in ROWS[part][1]}  # settings that identify the rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description="Write SST's table 4 into docs/sst.md.")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder of stored results")
    parser.add_argument("--data", default="news")
    parser.add_argument("--having", nargs="+", default=[], help="settings that all rows of the table have")
    parser.add_argument("--measures", nargs="+", default=["accuracy", "F1"])
    parser.add_argument("--to", type=Path, default=Path("docs") / "sst.md")
    options = parser.parse_args(arguments)
    group = StoredResults.load(options.results).groups.get(f"{options.data}.test")
    runs = [run for run in group.runs if run.study is None] if group else []
    runs = [run for run in runs if {*options.having} <= {*run.model.split()}]
    rows = {part: row for row in rows_without_tests(runs) if (part := part_of(row.model)) is not None}
    page = options.to.read_text(encoding="utf-8")
    options.to.write_text(with_table(page, table(rows, options.data, options.measures)), encoding="utf-8")
    print(f"Written: {options.to}")


def part_of(name: str) -> str | None:
    """The row of the table that an evaluated row belongs to, if any.

    >>> part_of("sst epochs=3"), part_of("sst clustering=adaptive clusters=sst-clusters epochs=3 views=1")
    ('sst-direct-soft', 'sst-one-view')
    """
    model, *words = name.split()
    settings = dict(word.split("=", 1) for word in words if "=" in word)
    changed = {key: value for key, value in settings.items() if key in KEYS}
    matching = (part for part in PARTS if {k: str(v).lstrip("@") for k, v in ROWS[part][1].items()} == changed)
    return next(matching, None) if model == "sst" else None


def table(rows: Mapping[str, ResultRow], data: str, measures: Sequence[str]) -> str:
    """All parts that were measured, in the paper's order."""
    if FULL not in rows:
        raise LongmatchError(f"There is no row of the full SST on {data}: train the row {FULL} first.")
    heads = [head for name in measures for head in (name, "difference")]
    lines = [_line([data, *heads, "seeds"]), _line(["---", *["---:"] * len(heads), "---"])]
    for part, description in PARTS.items():
        if part in rows:
            cells = [cell for name in measures for cell in _cells(rows[part], rows[FULL], name)]
            lines.append(_line([description, *cells, ", ".join(map(str, rows[part].seeds))]))
    return "\n".join(lines)


def with_table(page: str, table: str) -> str:
    """The page with the table between its two comments; they are added at the end where there are none."""
    if BEGIN not in page:
        page = page.rstrip() + f"\n\n## Table 4: the contribution of each part\n\n{BEGIN}\n{END}\n"
    before, rest = page.split(BEGIN, 1)
    return f"{before}{BEGIN}\n{table}\n{END}{rest.split(END, 1)[1]}"


def _cells(row: ResultRow, full: ResultRow, name: str) -> tuple[str, str]:
    """A measure with its deviation over the seeds, and its difference from the full model's with the p-value."""
    deviation = row.deviation(name)
    value = f"{100 * row.measures[name]:.1f}" + ("" if deviation is None else f"±{100 * deviation:.1f}")
    if row is full:
        return value, ""
    comparison = compare_rows(row, full, name)
    return value, f"{100 * comparison.difference:+.1f} (p = {comparison.p:.3f})"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
