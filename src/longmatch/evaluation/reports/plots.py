"""Two plots a set: quality against time a document, and against document length (CoLDE figure 7, SST figure 4)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from longmatch.evaluation.measures import RankingMeasure, parse
from longmatch.evaluation.reports.cells import Table, tables
from longmatch.evaluation.rows import Row, values_of

BINS = 4  # of document length, with equally many queries each


def write_plots(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Write SVG files; sets without a measure are left out."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for table in tables(rows):
        if not table.measures:
            continue
        run = table.rows[0].run
        stem = f"{run.data}.{run.split}" + (f"-{run.limit}" if run.limit else "")
        written.append(_time_plot(table, folder / f"{stem}.time.svg"))
        measure = parse(table.measures[0])
        if isinstance(measure, RankingMeasure) and len(run.answers) >= BINS:
            written.append(_length_plot(table, measure, folder / f"{stem}.length.svg"))
    return written


def by_length(row: Row, measure: RankingMeasure) -> tuple[list[float], list[float]]:
    """The mean length of the queries of each bin, in words, and the measure's mean over them."""
    queries = sorted(row.run.answers)
    lengths = np.array([row.run.words[query] for query in queries], dtype=np.float64)
    parts = np.array_split(np.argsort(lengths, kind="stable"), BINS)
    values = values_of(measure, row.run)
    return [float(lengths[p].mean()) for p in parts], [float(values[p].mean()) for p in parts]


def _time_plot(table: Table, path: Path) -> Path:
    figure, axes = _figure()
    measure = table.measures[0]
    for row in table.rows:
        if measure in row.measures:
            place = 1000 * max(row.seconds_per_document, 1e-6), 100 * row.measures[measure]
            axes.scatter(*place, s=25)
            axes.annotate(row.run.model, place, textcoords="offset points", xytext=(5, 3), fontsize=8)
    axes.set(xscale="log", xlabel="encoding, milliseconds a document", ylabel=f"{measure}, percent", title=table.title)
    return _save(figure, path)


def _length_plot(table: Table, measure: RankingMeasure, path: Path) -> Path:
    figure, axes = _figure()
    for row in table.rows:
        if row.run.answers:
            lengths, values = by_length(row, measure)
            axes.plot(lengths, [100 * value for value in values], marker="o", markersize=3, label=row.run.model)
    axes.set(xscale="log", xlabel="words in the query document", ylabel=f"{measure.name}, percent", title=table.title)
    axes.legend(fontsize=7)
    return _save(figure, path)


def _figure() -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot()
    axes.grid(alpha=0.3)
    axes.title.set_fontsize(9)
    return figure, axes


def _save(figure: Any, path: Path) -> Path:
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": "longmatch"}):  # the same rows give the same file
        figure.savefig(path, metadata={"Date": None})
    return path
