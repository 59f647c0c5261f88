"""The layouts of the papers' tables: rows and columns, with the significance of the difference from the first row.

Rows that are not stored are left out. Tested are nDCG@10 by randomisation over queries, F1 and AP by paired bootstrap
over source documents. A row of fewer seeds is compared with the same seeds of the first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from longmatch.lab.evaluation.measures import parse
from longmatch.lab.evaluation.paper_rows import (
    SMITH_TABLES,
    Names,
    Rows,
    colde_rows,
    colde_studies,
    near_rows,
    near_studies,
    readouts,
    sdr_rows,
)
from longmatch.lab.evaluation.result_rows import Comparer, ResultRow, rows_without_tests
from longmatch.lab.evaluation.runs import ModelRun


@dataclass(frozen=True)
class PaperTable:
    """One table: its title, its columns (headings by measure), those with a p value, and its rows' names by label."""

    title: str
    columns: Mapping[str, str]
    tested: Sequence[str]
    rows: Rows

    def lines(self, data: str, runs: Sequence[ModelRun]) -> list[str]:
        """The table of one set in Markdown; empty without its first row, or with no other."""
        found = {label: row for label, names in self.rows.items() if (row := pooled_row(runs, label, names))}
        first = next(iter(self.rows))
        if first not in found or len(found) == 1:
            return []
        heads = [head for key, name in self.columns.items() for head in ([name, "p"] if key in self.tested else [name])]
        lines = [f"{self.title}, {data}:", "", markdown_line(["", *heads, "seeds"])]
        lines += ["|---|" + "---:|" * (len(heads) + 1)]
        comparer = Comparer()
        for label, row in found.items():
            cells = []
            for measure in self.columns:
                cells.append(f"{100 * row.measures[measure]:.1f}" if measure in row.measures else "")
                if measure in self.tested:
                    both = row.can_be_tested(measure) and found[first].can_be_tested(measure)
                    compares = both and label != first
                    p = comparer.compare(row, found[first], parse(measure)).p if compares else None
                    cells.append("" if p is None else rounded_p(p))
            lines.append(markdown_line([label, *cells, str(max(1, len(row.seeds)))]))
        return [*lines, ""]

    def starting_with(self, label: str) -> "PaperTable":
        """The same table with another row first, which the others are compared with."""
        return replace(self, rows={label: self.rows[label], **self.rows}) if label in self.rows else self


def pooled_row(runs: Sequence[ModelRun], label: str, names: Names) -> ResultRow | None:
    """The row of all runs with one of these names, as if they had one name."""
    pooled = [replace(run, model=label) for run in runs if run.model in names]
    return rows_without_tests(pooled)[0] if pooled else None


def rounded_p(p: float) -> str:
    """A p value with two digits, three where that is 0.

    >>> rounded_p(0.547), rounded_p(0.004), rounded_p(0.0001)
    ('.55', '.004', '< .001')
    """
    if p < 0.001:
        return "< .001"
    return f"{p:.3f}".removeprefix("0") if p < 0.01 else f"{p:.2f}".removeprefix("0")


def markdown_line(cells: Sequence[str]) -> str:
    """A row of a table.

    >>> markdown_line(["a", "", "", "1"])
    '| a | | | 1 |'
    """
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)


def chosen(rows: Rows, labels: Sequence[str]) -> dict[str, Names]:
    """Some of a table's rows, in this order."""
    return {label: rows[label] for label in labels}


PAIRS = {"precision": "P", "recall": "R", "F1": "F1", "accuracy": "accuracy", "average_precision": "AP"}
READ = {"F1": "F1", "average_precision": "AP", "nDCG@10": "nDCG@10"}
RANKING = {name: name for name in ("MPR", "MRR", "HR@10", "nDCG@10")}
CLASSES = {"accuracy": "accuracy", "F1": "F1", "average_precision": "AP", "MRR": "MRR", "nDCG@10": "nDCG@10"}
BY_SECTIONS = [f"{trained}, by sections" for trained in ("full method", "words only", "untrained")]
BY_SECTIONS += ["full method, `first`", "untrained, `sdr-centred`", "untrained, `mean-centred`"]
PARTS = {"F1": "F1", "accuracy": "accuracy", "average_precision": "AP", "roc_auc": "AUC"}
SST_PARTS = [label for label in near_rows() if label.startswith("SST, adaptive")]
SST_PARTS += ["SST, direct, soft", "SST, direct, hard", "SST, random sentences"]
TABLES = {
    "colde": [
        PaperTable("From MiniLM", PAIRS | RANKING, ("F1", "nDCG@10"), colde_rows()),
        PaperTable("From raw-lm", PAIRS | RANKING, ("F1", "nDCG@10"), colde_rows("backbone=raw-lm")),
        PaperTable("Read in other ways, from MiniLM", READ, ("F1", "nDCG@10"), readouts(colde_rows()["CoLDE"])),
        *(
            PaperTable(f"Read in other ways, --preset paper, from {start}", READ, ("F1", "nDCG@10"), readouts(names))
            for start, names in (
                ("MiniLM", colde_rows()["`--preset paper`"]),
                ("raw-lm", colde_rows("backbone=raw-lm")["`--preset paper`"]),
            )
        ),
        PaperTable("Robustness, from MiniLM", READ, ("F1", "nDCG@10"), colde_studies()),
    ],
    "near": [
        PaperTable("Near pairs", PAIRS | {"roc_auc": "AUC"}, ("F1", "average_precision"), near_rows()),
        PaperTable("SST's parts", PARTS, ("F1", "average_precision"), chosen(near_rows(), SST_PARTS)),
        *(
            PaperTable(title, PARTS, ("F1", "average_precision", "roc_auc"), rows)
            for title, rows in near_studies().items()
        ),
    ],
    "smith": [PaperTable(title, CLASSES, ("F1", "average_precision"), rows) for title, rows in SMITH_TABLES.items()],
    "sdr": [
        PaperTable("From raw-lm", RANKING, ("MPR", "nDCG@10"), sdr_rows()),
        PaperTable("From raw-lm, by sections", RANKING, ("MPR", "nDCG@10"), chosen(sdr_rows(), BY_SECTIONS)),
        PaperTable("From raw-lm, words", RANKING, ("MPR", "nDCG@10"), chosen(sdr_rows(), ["words only", "untrained"])),
        PaperTable(
            "raw-lm untrained",
            RANKING | {"average_precision": "AP", "F1": "F1"},
            ("nDCG@10", "average_precision"),
            chosen(sdr_rows(), [label for label in sdr_rows() if label.startswith("untrained")]),
        ),
        PaperTable(
            "From MiniLM",
            RANKING,
            ("MPR", "nDCG@10"),
            {
                "`longmatch train sdr`": ["trained sdr pairs=256 steps=500"],
                "the same, by sections": ["sdr-section on trained sdr pairs=256 steps=500"],
                "the same, `sdr-paragraph`": ["sdr-paragraph on trained sdr pairs=256 steps=500"],
                "the same, `mean`": ["mean on trained sdr pairs=256 steps=500"],
                "the same, `first`": ["first on trained sdr pairs=256 steps=500"],
                "untrained, `sdr`": ["sdr@all-MiniLM-L6-v2", "sdr"],
                "untrained, by sections": ["sdr-section@all-MiniLM-L6-v2"],
                "untrained, `mean`": ["mean@all-MiniLM-L6-v2", "mean"],
                "untrained, `mean-centred`": ["mean-centred@all-MiniLM-L6-v2"],
            },
        ),
    ],
}
