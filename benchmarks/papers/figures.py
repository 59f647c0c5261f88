"""Draw the figures of the papers' pages, and print their numbers. Run it in the repository's root.

    python -m benchmarks.papers.figures robustness [--to docs/colde-robustness.svg]
    python -m benchmarks.papers.figures lengths DATA/acl/pairs-near.tsv DATA/papers/pairs-near.tsv
    python -m benchmarks.papers.figures losses out/pretrain/smith-pretrain-wp-1 out/pretrain/smith-pretrain-wp-sp-1 \\
        --losses masked_word_loss masked_block_loss --to docs/smith-pretraining.svg

- robustness: sections 4.4.1, 4.4.2 and 4.5.4 of CoLDE's paper, from the stored results: F1 of the pairs and nDCG@10 of
  the rankings on acl by batch size, length in training and number of sections; of the first seed, because that of
  CoLDE is one of three, and they differ.
- lengths: SST's figure 4, from the stored results: the test pairs of a set are divided into quarters by the words of
  both documents. For each quarter the area under the ROC curve of every model, and p of its difference from the first
  (paired bootstrap over source documents).
- losses: the losses of trainings over their steps, thin lines for training, points for the validation split. Each is a
  folder written by `longmatch train`, or the trainer_state.json of one of its checkpoints.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.papers.stored_results import ResultGroup, StoredResults
from longmatch.errors import LongmatchError
from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.evaluation.measures import PairPredictions, parse
from longmatch.lab.evaluation.paper_rows import STUDIES, Names, near_rows, near_studies
from longmatch.lab.evaluation.paper_tables import chosen, markdown_line, pooled_row, rounded_p
from longmatch.lab.evaluation.result_rows import Comparer, ResultRow

History = Sequence[Mapping[str, Any]]

STUDY_MEASURES = {"F1": "F1 of pairs", "nDCG@10": "nDCG@10"}
SEED = 1  # which every point of every study has
LONG = "SST, 20 epochs"
MODELS = ("cross-encoder", "SST, direct, soft", LONG, "Match-Ignition", "OPT-Match", "BERT-PLI", "CIG")
SHOWN: Mapping[str, Names] = chosen({**near_rows(), **near_studies()["SST after 20 epochs"]}, [*MODELS, "default"])
PARTS = 4
AUC = "roc_auc"  # unlike average precision it does not depend on the share of matches


def panels(count: int, width: float, height: float) -> tuple[Any, Sequence[Any]]:
    """A figure and its panels, side by side."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * count, height), layout="constrained")
    row = figure.subplots(1, count, squeeze=False)[0]
    for axes in row:
        axes.grid(alpha=0.3)
    return figure, row


def study_points(group: ResultGroup, study: Mapping[str, Names], measure: str) -> dict[str, float]:
    """The values of a measure by the setting's value, of one seed; rows that are not stored are left out."""
    runs = [run for run in group.runs if run.trained == SEED]
    rows = {value: pooled_row(runs, value, names) for value, names in study.items()}
    return {value: row.measures[measure] for value, row in rows.items() if row}


def draw_robustness(path: Path) -> None:
    """One panel per study, one line per measure."""
    group = StoredResults.load().groups["acl.test"]
    figure, row = panels(len(STUDIES), 4, 3.4)
    for axes, (name, study) in zip(row, STUDIES.items(), strict=True):
        for measure, label in STUDY_MEASURES.items():
            points = {value: 100 * found for value, found in study_points(group, study, measure).items()}
            axes.plot(list(points), list(points.values()), marker="o", label=label)
            for place, value in enumerate(points.values()):
                axes.annotate(f"{value:.1f}", (place, value), (0, 6), textcoords="offset points", ha="center")
            print(f"{name}, {measure}:", ", ".join(f"{value} {found:.1f}" for value, found in points.items()))
        axes.set(xlabel=name, ylim=(0, 100))
        axes.margins(x=0.15)
    axes.legend(frameon=False, loc="center right")
    figure.savefig(path)


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
        return 100 * self.rows[label].measures[AUC]

    def p(self, label: str) -> str:
        """Of the difference from the first row."""
        row, first = self.rows[label], next(iter(self.rows.values()))
        return "" if row is first else rounded_p(self.comparer.compare(row, first, parse(AUC)).p)


def length_groups(folder: DataFolder, group: ResultGroup, models: Mapping[str, Names] = SHOWN) -> list[LengthGroup]:
    """A set's test pairs by length, from the shortest."""
    words = {record.id: record.words for record in folder.records()}
    pairs = folder.pairs("test")
    if [pair.label for pair in pairs] != group.labels["labels"]:
        raise LongmatchError(f"{folder.place} has other test pairs than the stored results of {group.data}.")
    lengths = np.array([words[pair.source] + words[pair.target] for pair in pairs])
    found = []
    for part in np.array_split(np.argsort(lengths, kind="stable"), PARTS):
        runs = []  # as if they had been measured on these pairs alone
        for run in group.runs:
            if run.verdicts:
                verdicts = PairPredictions(run.verdicts.labels[part], run.verdicts.scores[part], run.verdicts.threshold)
                sources = tuple(run.sources[pair] for pair in part)
                runs.append(replace(run, verdicts=verdicts, sources=sources, answers={}))
        rows = {label: row for label, names in models.items() if (row := pooled_row(runs, label, names))}
        found.append(LengthGroup((int(lengths[part].min()), int(lengths[part].max())), rows))
    return found


def length_table(data: str, groups: Sequence[LengthGroup]) -> list[str]:
    """In Markdown."""
    heads = [cell for group in groups for cell in (group.label, "p")]
    lines = [f"{data}, thousand words of both documents:", "", markdown_line(["", *heads])]
    lines.append("|---|" + "---:|" * len(heads))
    for label in groups[0].rows:
        cells = [cell for group in groups for cell in (f"{group.value(label):.1f}", group.p(label))]
        lines.append(markdown_line([label, *cells]))
    return [*lines, ""]


def draw_lengths(sets: Mapping[str, Sequence[LengthGroup]], path: Path) -> None:
    """One panel per set, one line per model."""
    figure, row = panels(len(sets), 5.2, 3.8)
    for axes, (name, groups) in zip(row, sets.items(), strict=True):
        for number, label in enumerate(SHOWN):
            if label in groups[0].rows:
                values = [group.value(label) for group in groups]
                axes.plot([group.label for group in groups], values, color=f"C{number}", marker="o", label=label)
        axes.set(title=name, xlabel="thousand words of both documents", ylabel="AUC")
        print("\n".join(length_table(name, groups)))
    handles = {text: line for axes in row for line, text in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(list(handles.values()), list(handles), loc="outside right center", frameon=False)
    figure.savefig(path)


def load_history(path: Path) -> History:
    """The log of a training, step by step, from its latest checkpoint."""
    files = [path] if path.is_file() else list(path.glob("training/checkpoints/*/trainer_state.json"))
    if not files:
        raise SystemExit(f"{path} holds no checkpoint. Name a folder written by longmatch train.")
    states = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    history: History = max(states, key=lambda state: state["global_step"])["log_history"]
    return history


def loss_curve(history: History, key: str) -> tuple[list[int], list[float]]:
    """Steps and values of a logged number; empty where it is always 0.

    >>> loss_curve([{"step": 10, "loss": 3.0}, {"step": 10, "eval_loss": 2.5}, {"step": 20, "loss": 2.0}], "loss")
    ([10, 20], [3.0, 2.0])
    """
    points = [(int(entry["step"]), float(entry[key])) for entry in history if key in entry]
    if not any(value for _, value in points):
        return [], []
    return [step for step, _ in points], [value for _, value in points]


def draw_losses(trainings: Sequence[Path], losses: Sequence[str], path: Path) -> None:
    """One panel per loss, one colour per training; printed are the last validation losses."""
    histories = {training.stem: load_history(training) for training in trainings}
    figure, row = panels(len(losses), 5, 3.8)
    for axes, loss in zip(row, losses, strict=True):
        for number, (name, history) in enumerate(histories.items()):
            axes.plot(*loss_curve(history, loss), color=f"C{number}", alpha=0.4, linewidth=1)
            steps, values = loss_curve(history, f"eval_{loss}")
            if steps:
                axes.plot(steps, values, color=f"C{number}", marker="o", markersize=3, label=name)
        axes.set(xlabel="steps", title=loss.replace("_", " "))
        axes.legend(frameon=False)
    figure.savefig(path)
    for name, history in histories.items():
        print(name, json.dumps({k: value for entry in history for k, value in entry.items() if k.startswith("eval_")}))


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw one figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    figures = parser.add_subparsers(dest="figure", required=True)
    robustness, lengths, losses = (figures.add_parser(name) for name in ("robustness", "lengths", "losses"))
    robustness.add_argument("--to", type=Path, default=Path("docs") / "colde-robustness.svg")
    lengths.add_argument("pairs", nargs="+", type=Path, help="label files, such as DATA/acl/pairs-near.tsv")
    lengths.add_argument("--to", type=Path, default=Path("docs") / "sst-lengths.svg")
    losses.add_argument("trainings", nargs="+", type=Path)
    losses.add_argument("--losses", nargs="+", default=["loss"])
    losses.add_argument("--to", type=Path, required=True)
    options = parser.parse_args(arguments)
    options.to.parent.mkdir(parents=True, exist_ok=True)
    if options.figure == "robustness":
        draw_robustness(options.to)
    elif options.figure == "losses":
        draw_losses(options.trainings, options.losses, options.to)
    else:
        stored = StoredResults.load()
        folders = [DataFolder(path) for path in options.pairs]
        sets = {folder.name: length_groups(folder, stored.groups[f"{folder.name}.test"]) for folder in folders}
        draw_lengths(sets, options.to)


if __name__ == "__main__":
    main()
