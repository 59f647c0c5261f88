"""Write SST's table 4 into docs/sst.md: what each of its parts is worth, from the answers of trained rows.

    python scripts/write_ablations.py [--data news] [--having learning_rate=1e-05] [--to docs/sst.md]

The answers are those in benchmarks/results, where scripts/write_benchmarks.py puts them. The rows are those of
scripts/train_benchmarks.py, told apart by their settings; each is tested against the whole model. A row that was not
measured is left out; where one was trained in several ways, `--having` says which is meant. The table stands between
two marks of the page, and takes the last one's place.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from stored_results import HOME, Stored
from train_benchmarks import ROWS

from longmatch.errors import LongmatchError
from longmatch.lab.evaluation.rows import Row, compare_rows, plain_rows

BEGIN, END = "<!-- table 4: scripts/write_ablations.py -->", "<!-- end of table 4 -->"
WHOLE = "sst-adaptive-soft"
PARTS = {  # the row of scripts/train_benchmarks.py, and what it is without
    WHOLE: "SST: adaptive subtopics, soft sampling",
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
KEYS = {key for part in PARTS for key in ROWS[part][1]}  # settings that tell the rows apart


def main(arguments: Sequence[str] | None = None) -> None:
    """Read, and write the table."""
    parser = argparse.ArgumentParser(description="Write SST's table 4 into docs/sst.md.")
    parser.add_argument("--results", type=Path, default=HOME, help="where all that was measured is kept")
    parser.add_argument("--data", default="news")
    parser.add_argument("--having", nargs="+", default=[], help="settings that all rows of the table have")
    parser.add_argument("--measures", nargs="+", default=["accuracy", "F1"])
    parser.add_argument("--to", type=Path, default=Path(__file__).parents[1] / "docs" / "sst.md")
    given = parser.parse_args(arguments)
    group = Stored.load(given.results).groups.get(f"{given.data}.test")
    runs = [run for run in group.runs if run.study is None] if group else []
    runs = [run for run in runs if {*given.having} <= {*run.model.split()}]
    found = {part: row for row in plain_rows(runs) if (part := part_of(row.model)) is not None}
    page = given.to.read_text(encoding="utf-8")
    given.to.write_text(placed(page, table(found, given.data, given.measures)), encoding="utf-8")
    print(f"Written: {given.to}")


def part_of(name: str) -> str | None:
    """Which row of the table one of the evaluation is; None for a row that is no part of it.

    >>> part_of("sst epochs=3"), part_of("sst clustering=adaptive clusters=sst-clusters epochs=3 views=1")
    ('sst-direct-soft', 'sst-one-view')
    """
    model, *words = name.split()
    settings = dict(word.split("=", 1) for word in words if "=" in word)
    own = {key: value for key, value in settings.items() if key in KEYS}
    fitting = (part for part in PARTS if {k: str(v).lstrip("@") for k, v in ROWS[part][1].items()} == own)
    return next(fitting, None) if model == "sst" else None


def table(rows: Mapping[str, Row], data: str, measures: Sequence[str]) -> str:
    """All parts that were measured, in the paper's order."""
    if WHOLE not in rows:
        raise LongmatchError(f"There is no row of the whole SST on {data}: train the row {WHOLE} first.")
    heads = [head for name in measures for head in (name, "difference")]
    lines = [_line([data, *heads, "seeds"]), _line(["---", *["---:"] * len(heads), "---"])]
    for part, told in PARTS.items():
        if part in rows:
            cells = [cell for name in measures for cell in _cells(rows[part], rows[WHOLE], name)]
            lines.append(_line([told, *cells, ", ".join(map(str, rows[part].seeds))]))
    return "\n".join(lines)


def placed(page: str, made: str) -> str:
    """The page with the table between its marks; they are added at the end where there are none."""
    if BEGIN not in page:
        page = page.rstrip() + f"\n\n## Table 4: what each part is worth\n\n{BEGIN}\n{END}\n"
    before, rest = page.split(BEGIN, 1)
    return f"{before}{BEGIN}\n{made}\n{END}{rest.split(END, 1)[1]}"


def _cells(row: Row, whole: Row, name: str) -> tuple[str, str]:
    """A measure with its deviation over the seeds; and by how much it differs from the whole model's, with the p."""
    deviation = row.deviation(name)
    value = f"{100 * row.measures[name]:.1f}" + ("" if deviation is None else f"±{100 * deviation:.1f}")
    if row is whole:
        return value, ""
    found = compare_rows(row, whole, name)
    return value, f"{100 * found.difference:+.1f} (p = {found.p:.3f})"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
