"""SST's figure 4, from the stored results: models on pairs of documents of different lengths.

    python -m benchmarks.papers.pair_lengths DATA/acl/pairs-near.tsv DATA/papers/pairs-near.tsv \\
        --to docs/sst-lengths.svg

The test pairs of a set are divided into quarters by the words of both documents. For each quarter the area under
the ROC curve of every model, and p of its difference from the first (paired bootstrap over source documents).
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from benchmarks.papers.stored_results import ResultGroup, StoredResults
from longmatch.errors import LongmatchError
from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.evaluation.measures import Ints, PairPredictions, parse
from longmatch.lab.evaluation.paper_rows import Names, near_rows, near_studies
from longmatch.lab.evaluation.paper_tables import chosen, markdown_line, pooled_row, rounded_p
from longmatch.lab.evaluation.result_rows import Comparer, ResultRow
from longmatch.lab.evaluation.runs import ModelRun

LONG = "SST, 20 epochs"
MODELS = ("cross-encoder", "SST, direct, soft", LONG, "Match-Ignition", "OPT-Match", "BERT-PLI", "CIG")
SHOWN: Mapping[str, Names] = chosen({**near_rows(), **near_studies()["SST after 20 epochs"]}, [*MODELS, "default"])
PARTS = 4
MEASURE = "roc_auc"  # unlike average precision it does not depend on the share of matches


@dataclass(frozen=True)
class LengthGroup:
    """The pairs of a range of lengths, and every model's row on them, by label; the first is compared with."""

    words: tuple[int, int]
    rows: Mapping[str, ResultRow]
    comparer: Comparer = field(default_factory=Comparer)

    @property
    def label(self) -> str:
        """The range in thousands of words."""
        return f"{self.words[0] / 1000:.1f} to {self.words[1] / 1000:.1f}"

    def value(self, label: str) -> float:
        """In percent."""
        return 100 * self.rows[label].measures[MEASURE]

    def p(self, label: str) -> str:
        """Of the difference from the first row."""
        row, first = self.rows[label], next(iter(self.rows.values()))
        return "" if row is first else rounded_p(self.comparer.compare(row, first, parse(MEASURE)).p)


def length_groups(folder: DataFolder, group: ResultGroup, models: Mapping[str, Names] = SHOWN) -> list[LengthGroup]:
    """A set's test pairs by length, from the shortest."""
    words = {record.id: record.words for record in folder.records()}
    pairs = folder.pairs("test")
    if [pair.label for pair in pairs] != group.labels["labels"]:
        raise LongmatchError(f"{folder.place} has other test pairs than the stored results of {group.data}.")
    lengths = np.array([words[pair.source] + words[pair.target] for pair in pairs])
    found = []
    for part in np.array_split(np.argsort(lengths, kind="stable"), PARTS):
        some = [restricted(run, part) for run in group.runs if run.verdicts]
        rows = {label: row for label, names in models.items() if (row := pooled_row(some, label, names))}
        found.append(LengthGroup((int(lengths[part].min()), int(lengths[part].max())), rows))
    return found


def restricted(run: ModelRun, pairs: Ints) -> ModelRun:
    """A run as if it had been measured on some of its pairs alone."""
    assert run.verdicts
    verdicts = PairPredictions(run.verdicts.labels[pairs], run.verdicts.scores[pairs], run.verdicts.threshold)
    return replace(run, verdicts=verdicts, sources=tuple(run.sources[pair] for pair in pairs), answers={})


def table(data: str, groups: Sequence[LengthGroup]) -> list[str]:
    """In Markdown."""
    heads = [cell for group in groups for cell in (group.label, "p")]
    lines = [f"{data}, thousand words of both documents:", "", markdown_line(["", *heads])]
    lines.append("|---|" + "---:|" * len(heads))
    for label in groups[0].rows:
        cells = [cell for group in groups for cell in (f"{group.value(label):.1f}", group.p(label))]
        lines.append(markdown_line([label, *cells]))
    return [*lines, ""]


def plot(sets: Mapping[str, Sequence[LengthGroup]], path: Path) -> None:
    """One panel per set, one line per model."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2 * len(sets), 3.8), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, (name, groups) in zip(figure.subplots(1, len(sets), squeeze=False)[0], sets.items(), strict=True):
        for number, label in enumerate(SHOWN):
            if label in groups[0].rows:
                values = [group.value(label) for group in groups]
                axes.plot([group.label for group in groups], values, color=f"C{number}", marker="o", label=label)
        axes.set(title=name, xlabel="thousand words of both documents", ylabel="AUC")
        axes.grid(alpha=0.3)
    handles = {text: line for axes in figure.axes for line, text in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(list(handles.values()), list(handles), loc="outside right center", frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw the figure and print its numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="+", type=Path, help="label files, such as DATA/acl/pairs-near.tsv")
    parser.add_argument("--to", type=Path, default=Path("docs") / "sst-lengths.svg")
    options = parser.parse_args(arguments)
    stored = StoredResults.load()
    folders = [DataFolder(path) for path in options.pairs]
    sets = {folder.name: length_groups(folder, stored.groups[f"{folder.name}.test"]) for folder in folders}
    plot(sets, options.to)
    for name, groups in sets.items():
        print("\n".join(table(name, groups)))


if __name__ == "__main__":
    main()
