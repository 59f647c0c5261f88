"""The files of a report, written from the runs in a folder: results.json, results.md, about.json and plots."""

import json
import re
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from longmatch.lab.evaluation.corpus import SHUFFLED
from longmatch.lab.evaluation.measures import Measure, RankingMeasure, parse
from longmatch.lab.evaluation.report import ResultTable, tables, to_markdown
from longmatch.lab.evaluation.result_rows import (
    BASELINE,
    ResultRow,
    compare_shuffled,
    make_rows,
    rows_without_tests,
    values_by_query,
)
from longmatch.lab.evaluation.runs import ModelRun, load_runs, run_path

PROVENANCE_FACTS = ("command", "commit", "code", "machine", "versions")  # rows alike in these share an entry
BINS = 4  # of document length, with equal numbers of queries


class ReportWriter:
    """Writes the report of a folder as rows are finished; the tests of finished sets are computed once."""

    def __init__(self, out: Path, measures: Sequence[Measure] | None = None, seed: int = 0) -> None:
        self.out, self.measures, self.seed = out, measures, seed
        self._tested: dict[str, list[ResultRow]] = {}

    def write(self, unfinished: str | None = None) -> list[ResultRow]:
        """Write all rows; those of the set named `unfinished` without intervals, tests and plots."""
        runs = load_runs(self.out)
        groups = groupby(sorted(runs, key=lambda run: str(run.group)), lambda run: run.group)
        by_group: dict[tuple[object, ...], list[ResultRow]] = {
            key: self._rows(list(group), unfinished) for key, group in groups
        }
        rows = [row for group in by_group.values() for row in group]
        for (data, *rest), group in by_group.items() if unfinished is None else ():
            if str(data).endswith(SHUFFLED) and not any(row.unshuffled for row in group):
                originals = by_group.get((str(data).removesuffix(SHUFFLED), *rest), [])  # in their original order
                compare_shuffled(group, originals, self.seed)
        for row in rows:
            path = fidelity_path(self.out, row.run.data, row.model, row.run.split)
            row.fidelity = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
        results = json.dumps([row.to_dict() for row in rows], ensure_ascii=False, indent=1)
        _write(self.out / "results.json", results + "\n")
        _write(self.out / "results.md", to_markdown(rows))
        _write(self.out / "about.json", json.dumps(provenance_entries(rows), ensure_ascii=False, indent=1) + "\n")
        if unfinished is None and find_spec("matplotlib"):
            write_plots(rows, self.out / "plots")
        return rows

    def _rows(self, runs: list[ModelRun], unfinished: str | None) -> list[ResultRow]:
        if runs[0].data == unfinished:
            return rows_without_tests(runs, self.measures)
        signature = json.dumps([[*run.group, run.model, run.trained, run.facts] for run in runs], sort_keys=True)
        if signature not in self._tested:
            self._tested[signature] = make_rows(runs, self.measures, self.seed)
        return self._tested[signature]


def provenance_entries(rows: Sequence[ResultRow]) -> list[dict[str, Any]]:
    """One entry for each command, code and machine, with the rows it made."""
    entries: dict[str, dict[str, Any]] = {}
    for row in rows:
        name = row.run.data if row.run.split == "test" else f"{row.run.data} ({row.run.split})"
        made = [("rows", run.made) for run in row.runs]
        made += [("explanations", row.fidelity.get("made", {}))] if row.fidelity else []
        for kind, provenance in made:
            facts = {key: provenance.get(key) for key in PROVENANCE_FACTS}
            entry = entries.setdefault(json.dumps(facts, sort_keys=True), facts | {"weights": [], "rows": {}})
            weights = provenance.get("weights")
            if weights and weights not in entry["weights"]:
                entry["weights"].append(weights)
            models = entry.setdefault(kind, {}).setdefault(name, [])
            if row.model not in models:
                models.append(row.model)
    return list(entries.values())


def fidelity_path(out: Path, data: str, model: str, split: str) -> Path:
    """The path of the measured fidelity of a model's explanations."""
    return out / "fidelity" / run_path(out, data, model, split, None).name


def _write(path: Path, text: str) -> None:
    """Replace a file atomically."""
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def write_plots(rows: Sequence[ResultRow], folder: Path) -> list[Path]:
    """Write the SVG files; sets without a measure have none."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for table in tables(rows):
        run = table.rows[0].run
        measure = parse(table.measures[0])
        ranking = isinstance(measure, RankingMeasure)
        kind = "" if ranking or not run.answers else ".pairs"
        stem = f"{run.data}.{run.split}" + (f"-{run.limit}" if run.limit else "") + kind
        written.append(_time_plot(table, folder / f"{stem}.time.svg"))
        if isinstance(measure, RankingMeasure) and len(run.answers) >= BINS:
            figure, axes = _figure()
            for row in table.rows:
                lengths, values = by_length(row, measure)
                axes.plot(lengths, [100 * value for value in values], marker="o", markersize=3, label=row.model)
            label = f"{measure.name}, percent"
            axes.set(xscale="log", xlabel="words in the query document", ylabel=label, title=table.title)
            axes.legend(fontsize=7)
            written.append(_save(figure, folder / f"{stem}.length.svg"))
        for name in dict.fromkeys(row.run.study["name"] for row in table.rows if row.run.study):
            path = folder / f"{stem}.{re.sub(r'[^A-Za-z0-9_]+', '-', name)}.svg"
            written.append(_study_plot(table, name, path))
    return written


def by_length(row: ResultRow, measure: RankingMeasure) -> tuple[list[float], list[float]]:
    """For each bin of queries, their mean length in words and the mean of the measure."""
    queries = sorted(row.run.answers)
    lengths = np.array([row.run.words[query] for query in queries], dtype=np.float64)
    parts = np.array_split(np.argsort(lengths, kind="stable"), BINS)
    values = values_by_query(measure, row)
    return [float(lengths[p].mean()) for p in parts], [float(values[p].mean()) for p in parts]


def over_values(table: ResultTable, name: str, measure: str) -> tuple[list[Any], list[float], list[float]]:
    """A study's values in order, the measure at each, and its deviation over the seeds (0 for a single one)."""
    rows = [row for row in table.rows if row.run.study and row.run.study["name"] == name and measure in row.measures]
    rows.sort(key=lambda row: _order((row.run.study or {})["value"]))
    values = [(row.run.study or {})["value"] for row in rows]
    return values, [row.measures[measure] for row in rows], [row.deviation(measure) or 0.0 for row in rows]


def _time_plot(table: ResultTable, path: Path) -> Path:
    figure, axes = _figure()
    measure = table.measures[0]
    for row in table.rows:
        if measure in row.measures:
            place = 1000 * max(row.seconds_per_document, 1e-6), 100 * row.measures[measure]
            axes.scatter(*place, s=25)
            name = axes.annotate(row.model, place, textcoords="offset points", xytext=(5, 3), fontsize=8)
            name.set_in_layout(False)  # a long one may be cut off, but does not shrink the axes
    axes.set(
        xscale="log", xlabel="encoding, milliseconds per document", ylabel=f"{measure}, percent", title=table.title
    )
    return _save(figure, path)


def _study_plot(table: ResultTable, name: str, path: Path) -> Path:
    """The first measure over the values, for pairs also the accuracy, as in the paper; tfidf as a line."""
    figure, axes = _figure()
    shown = [measure for measure in table.measures if measure in (table.measures[0], "accuracy")]
    tfidf = next((row for row in table.rows if row.model == BASELINE), None)
    for measure in shown:
        values, heights, spread = over_values(table, name, measure)
        numbers = all(isinstance(value, int | float) for value in values)
        places = values if numbers else list(map(str, values))
        heights, spread = [100 * x for x in heights], [100 * x for x in spread]
        drawn = axes.errorbar(places, heights, yerr=spread, marker="o", markersize=4, capsize=3, label=measure)
        if numbers:
            axes.set_xticks(places)
        if tfidf and measure in tfidf.measures:
            level = 100 * tfidf.measures[measure]
            axes.axhline(level, linestyle="--", color=drawn.lines[0].get_color(), label=f"{measure} of {BASELINE}")
    key = next((row.run.study["key"] for row in table.rows if row.run.study and row.run.study["name"] == name), "")
    axes.set(xlabel=key, ylabel="percent", title=fill(f"{name}; {table.title}", 80))
    axes.legend(fontsize=7)
    return _save(figure, path)


def _order(value: Any) -> tuple[bool, Any]:
    """Sort key: numbers by size, then words."""
    return (False, value) if isinstance(value, int | float) else (True, str(value))


def _figure() -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot()
    axes.grid(alpha=0.3)
    return figure, axes


def _save(figure: Any, path: Path) -> Path:
    from matplotlib import rc_context

    for axes in figure.axes:
        axes.title.set_fontsize(9)
    with rc_context({"svg.hashsalt": "longmatch"}):  # the same rows give the same file
        figure.savefig(path, metadata={"Date": None})
    return path
