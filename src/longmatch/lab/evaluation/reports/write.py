"""The files of a report, written from the runs in a folder: results.json, results.md, about.json and plots."""

import json
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any

from longmatch.lab.evaluation.corpus import SHUFFLED
from longmatch.lab.evaluation.measures import Measure
from longmatch.lab.evaluation.reports.markdown import to_markdown
from longmatch.lab.evaluation.result_rows import ResultRow, compare_shuffled, make_rows, rows_without_tests
from longmatch.lab.evaluation.runs import ModelRun, load_runs, run_path

PROVENANCE_FACTS = ("command", "commit", "code", "machine", "versions")  # rows alike in these share an entry


class ReportWriter:
    """Writes the report of a folder as rows are finished; the tests of finished sets are computed once."""

    def __init__(self, out: Path, measures: Sequence[Measure] | None = None, seed: int = 0) -> None:
        self.out, self.measures, self.seed = out, measures, seed
        self._tested: dict[str, list[ResultRow]] = {}

    def write(self, unfinished: str | None = None) -> list[ResultRow]:
        """Write all rows; those of the set named `unfinished` without intervals, tests and plots."""
        runs = load_runs(self.out)
        groups = groupby(sorted(runs, key=lambda run: str(run.group)), lambda run: run.group)
        rows = [row for _, group in groups for row in self._rows(list(group), unfinished)]
        if unfinished is None:
            self._compare_shuffled(rows)
        for row in rows:
            path = fidelity_path(self.out, row.run.data, row.model, row.run.split)
            row.fidelity = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
        results = json.dumps([row.to_dict() for row in rows], ensure_ascii=False, indent=1)
        _write(self.out / "results.json", results + "\n")
        _write(self.out / "results.md", to_markdown(rows))
        _write(self.out / "about.json", json.dumps(provenance_entries(rows), ensure_ascii=False, indent=1) + "\n")
        if unfinished is None and find_spec("matplotlib"):
            from longmatch.lab.evaluation.reports.plots import write_plots

            write_plots(rows, self.out / "plots")
        return rows

    def _rows(self, runs: list[ModelRun], unfinished: str | None) -> list[ResultRow]:
        if runs[0].data == unfinished:
            return rows_without_tests(runs, self.measures)
        signature = json.dumps([[*run.group, run.model, run.trained, run.facts] for run in runs], sort_keys=True)
        if signature not in self._tested:
            self._tested[signature] = make_rows(runs, self.measures, self.seed)
        return self._tested[signature]

    def _compare_shuffled(self, rows: list[ResultRow]) -> None:
        """Compare the rows of shuffled sets with those of the same sets in their original order."""
        groups: dict[tuple[object, ...], list[ResultRow]] = {}
        for row in rows:
            groups.setdefault(row.run.group, []).append(row)
        for (data, *rest), group in groups.items():
            if str(data).endswith(SHUFFLED) and not any(row.unshuffled for row in group):
                originals = groups.get((str(data).removesuffix(SHUFFLED), *rest), [])
                compare_shuffled(group, originals, self.seed)


def provenance_entries(rows: Sequence[ResultRow]) -> list[dict[str, Any]]:
    """One entry for each command, code and machine, with the rows it made."""
    entries: dict[str, dict[str, Any]] = {}
    for row in rows:
        for run in row.runs:
            _add_provenance(entries, run.made, row, "rows")
        if row.fidelity:
            _add_provenance(entries, row.fidelity.get("made", {}), row, "explanations")
    return list(entries.values())


def _add_provenance(
    entries: dict[str, dict[str, Any]], provenance: Mapping[str, Any], row: ResultRow, kind: str
) -> None:
    facts = {key: provenance.get(key) for key in PROVENANCE_FACTS}
    entry = entries.setdefault(json.dumps(facts, sort_keys=True), facts | {"weights": [], "rows": {}})
    weights = provenance.get("weights")
    if weights and weights not in entry["weights"]:
        entry["weights"].append(weights)
    name = row.run.data if row.run.split == "test" else f"{row.run.data} ({row.run.split})"
    models = entry.setdefault(kind, {}).setdefault(name, [])
    if row.model not in models:
        models.append(row.model)


def fidelity_path(out: Path, data: str, model: str, split: str) -> Path:
    """The path of the measured fidelity of a model's explanations."""
    return out / "fidelity" / run_path(out, data, model, split, None).name


def _write(path: Path, text: str) -> None:
    """Replace a file atomically."""
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
