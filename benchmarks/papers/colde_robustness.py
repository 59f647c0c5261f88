"""CoLDE's robustness studies as a figure, from the stored results: batch size, length in training, number of sections.

    python -m benchmarks.papers.colde_robustness --to docs/colde-robustness.svg

One panel per study (sections 4.4.1, 4.4.2 and 4.5.4 of the paper), F1 of the pairs and nDCG@10 of the rankings on
acl, of the first seed: that of CoLDE is one of three, and they differ.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.papers.stored_results import ResultGroup, StoredResults
from longmatch.lab.evaluation.paper_rows import STUDIES, Names
from longmatch.lab.evaluation.paper_tables import pooled_row

DATA = "acl.test"
MEASURES = {"F1": "F1 of pairs", "nDCG@10": "nDCG@10"}
SEED = 1  # which every point of every study has


def study_points(group: ResultGroup, study: Mapping[str, Names], measure: str) -> dict[str, float]:
    """The values of a measure by the setting's value, of one seed; rows that are not stored are left out."""
    runs = [run for run in group.runs if run.trained == SEED]
    rows = {value: pooled_row(runs, value, names) for value, names in study.items()}
    return {value: row.measures[measure] for value, row in rows.items() if row}


def plot(group: ResultGroup, path: Path) -> None:
    """One panel per study, one line per measure."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4 * len(STUDIES), 3.4), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, (name, study) in zip(figure.subplots(1, len(STUDIES)), STUDIES.items(), strict=True):
        for measure, label in MEASURES.items():
            points = study_points(group, study, measure)
            axes.plot(list(points), [100 * value for value in points.values()], marker="o", label=label)
            for place, value in enumerate(points.values()):
                axes.annotate(
                    f"{100 * value:.1f}", (place, 100 * value), (0, 6), textcoords="offset points", ha="center"
                )
        axes.set(xlabel=name, ylim=(0, 100))
        axes.margins(x=0.15)
        axes.grid(alpha=0.3)
    axes.legend(frameon=False, loc="center right")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw the figure, and print its numbers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--to", type=Path, default=Path("docs") / "colde-robustness.svg")
    options = parser.parse_args(arguments)
    group = StoredResults.load().groups[DATA]
    plot(group, options.to)
    for name, study in STUDIES.items():
        for measure in MEASURES:
            points = study_points(group, study, measure)
            print(f"{name}, {measure}:", ", ".join(f"{value} {100 * found:.1f}" for value, found in points.items()))


if __name__ == "__main__":
    main()
