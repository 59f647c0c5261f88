"""results.json, results.md and the plots, made from whatever runs lie under a folder."""

import json
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path

from longmatch.lab.evaluation.corpus import SHUFFLED
from longmatch.lab.evaluation.measures import Measure
from longmatch.lab.evaluation.reports.about import write_about
from longmatch.lab.evaluation.reports.markdown import to_markdown
from longmatch.lab.evaluation.rows import Row, compare_shuffled, make_rows, plain_rows
from longmatch.lab.evaluation.runs import Run, load_runs, run_path


class Reports:
    """Writes the reports of a folder again and again as rows are finished; finished sets are worked out once."""

    def __init__(self, out: Path, measures: Sequence[Measure] | None = None, seed: int = 0) -> None:
        self.out, self.measures, self.seed = out, measures, seed
        self._done: dict[str, list[Row]] = {}

    def write(self, unfinished: str | None = None) -> list[Row]:
        """Write all rows; those of the unfinished set without intervals, tests and plots."""
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
        write_about(self.out, rows)
        if unfinished is None and find_spec("matplotlib"):
            from longmatch.lab.evaluation.reports.plots import write_plots

            write_plots(rows, self.out / "plots")
        return rows

    def _rows(self, runs: list[Run], unfinished: str | None) -> list[Row]:
        if runs[0].data == unfinished:
            return plain_rows(runs, self.measures)
        signature = json.dumps([[*run.group, run.model, run.trained, run.facts] for run in runs], sort_keys=True)
        if signature not in self._done:
            self._done[signature] = make_rows(runs, self.measures, self.seed)
        return self._done[signature]

    def _compare_shuffled(self, rows: list[Row]) -> None:
        """With the rows of the same set in its own order."""
        groups: dict[tuple[object, ...], list[Row]] = {}
        for row in rows:
            groups.setdefault(row.run.group, []).append(row)
        for (data, *rest), group in groups.items():
            if str(data).endswith(SHUFFLED) and not any(row.unshuffled for row in group):
                plain = groups.get((str(data).removesuffix(SHUFFLED), *rest), [])
                compare_shuffled(group, plain, self.seed)


def fidelity_path(out: Path, data: str, model: str, split: str) -> Path:
    """Where the measured fidelity of a model's explanations lies."""
    return out / "fidelity" / run_path(out, data, model, split, None).name


def _write(path: Path, text: str) -> None:
    """Whole or not at all."""
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
