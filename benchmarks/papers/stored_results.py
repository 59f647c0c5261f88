"""Results kept in the repository: benchmarks/results, from which the benchmark pages can be written at any time.

SET.SPLIT.npz.xz holds the set's rows as in results.json, and its runs (`stored_runs`), so that rows measured later
can be tested against these. The pairs' order, by which average precision and AUC are tested, is kept of the runs that a
table tests by it, of the default and the lexical ones, and of the best trained and untrained one; rows of others keep
the tests that were made. about.json.xz holds the rows' provenance, one entry a line.

A row whose run is lost keeps its numbers, its significance marks (`marks`) and its order among rows that are equal when
rounded (`places`).
"""

import json
import lzma
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.papers.stored_runs import BY_ORDER, labels_of, pack, rounded, unpack
from longmatch.errors import LongmatchError
from longmatch.lab.datasets.near_pairs import NEAR
from longmatch.lab.evaluation.corpus import SHUFFLED
from longmatch.lab.evaluation.measures import RankingMeasure, parse
from longmatch.lab.evaluation.model_spec import LEXICAL
from longmatch.lab.evaluation.paper_tables import TABLES
from longmatch.lab.evaluation.provenance import commit_of
from longmatch.lab.evaluation.report_files import fidelity_path, provenance_entries
from longmatch.lab.evaluation.result_rows import ResultRow, compare_shuffled, make_rows, rows_without_tests
from longmatch.lab.evaluation.runs import ModelRun, load_runs, run_path

StoredRow = dict[str, Any]

RESULTS = Path("benchmarks") / "results"  # below the repository's root
PROVENANCE = "about.json.xz"
SUFFIX = ".npz.xz"
TESTED = ("intervals", "against_tfidf", "against_bm25", "against_best_other", "against_best_untrained")
FIDELITY_KEYS = ("share", "pairs", "score", "deletion", "insertion")
OMITTED = ("unhandled_documents", "each_seed")  # from a row: the runs have them


@dataclass
class ResultGroup:
    """All rows evaluated on the same labels: a set's split."""

    data: str
    split: str
    limit: int | None = None
    rows: list[StoredRow] = field(default_factory=list)
    runs: list[ModelRun] = field(default_factory=list)
    fidelity: dict[str, Any] = field(default_factory=dict)  # by model, of runs that were added

    @property
    def name(self) -> str:
        """The stem of its file: news.test."""
        return ".".join([self.data, self.split if self.limit is None else f"{self.split}-{self.limit}"])

    @property
    def label(self) -> str:
        """Its name in the provenance: the set alone for the test split."""
        return self.data if self.split == "test" else f"{self.data} ({self.split})"

    @property
    def labels(self) -> dict[str, list[Any]]:
        """The labels the runs were evaluated on; some runs may have rankings or pairs alone."""
        each = [labels_of(run) for run in self.runs]
        kinds = ("wanted", "sources", "labels")
        return {kind: next((labels[kind] for labels in each if labels[kind]), []) for kind in kinds}

    @property
    def rows_without_runs(self) -> list[StoredRow]:
        """Rows whose runs are lost."""
        measured = {run.model for run in self.runs}
        return [row for row in self.rows if row["model"] not in measured]

    def add(self, runs: Sequence[ModelRun], fidelity: Mapping[str, Any]) -> None:
        """Add runs, replacing those of the same model and seed; `fidelity` is by model. The rows stay as they are."""
        expected = self.labels
        for run in runs:  # no test could compare runs on other labels
            labels = labels_of(run)
            if any(labels[kind] and expected[kind] and labels[kind] != expected[kind] for kind in expected):
                raise LongmatchError(f"{run.model} was evaluated on other labels of {self.name} than the stored rows.")
        new = {(run.model, run.trained): run for run in runs}
        kept = [run for run in self.runs if (run.model, run.trained) not in new]
        self.runs = sorted([*kept, *new.values()], key=lambda run: self._file_name(run.model, run.trained))
        self.fidelity |= {
            model: rounded({key: found[key] for key in FIDELITY_KEYS}) for model, found in fidelity.items()
        }

    def compute_rows(self) -> None:
        """Compute all measures and tests again: slow, so once after all changes."""
        by_model = {row["model"]: row["fidelity"] for row in self.rows if row.get("fidelity")} | self.fidelity
        before = {row["model"]: row for row in self.rows}
        computed = [row.to_dict() for row in make_rows(self.runs)]
        lost = self.rows_without_runs
        self.rows = [rounded({key: value for key, value in row.items() if key not in OMITTED}) for row in computed]
        self.rows += lost
        for model in {run.model for run in self.runs if run.verdicts and run.verdicts.known} & before.keys():
            row = next(row for row in self.rows if row["model"] == model)
            for key, name in product(TESTED, (measure.name for measure in BY_ORDER)):
                if name in before[model].get(key, {}):
                    row[key][name] = before[model][key][name]
        for row in self.rows:
            row.update({"fidelity": by_model[row["model"]]} if row["model"] in by_model else {})
        self.rows.sort(key=lambda row: self._file_name(row["model"], None))
        for row in self.rows:
            _drop_untested_best(row, self.rows)

    def _file_name(self, model: str, trained: int | None) -> str:
        """By which rows and runs are ordered."""
        return run_path(Path(), self.data, model, self.split, self.limit, trained).name

    def to_bytes(self) -> bytes:
        """The content of its file, with the order of the pairs of models that a table or a new row is tested against
        by average precision and AUC.
        """
        head = {"data": self.data, "split": self.split, "limit": self.limit, "asked": self.labels, "rows": self.rows}
        models = {run.model for run in self.runs}
        if self.data.endswith(NEAR):
            return pack(head, self.runs, models)
        in_tables = {name for table in TABLES["smith"] for names in table.rows.values() for name in names}
        measured = [row for row in self.rows if BY_ORDER[0].name in row["measures"] and row["model"] in models]
        by_kind = ([row for row in measured if bool(row.get("seeds")) == trained] for trained in (False, True))
        best = {max(rows, key=lambda row: row["measures"][BY_ORDER[0].name])["model"] for rows in by_kind if rows}
        return pack(head, self.runs, {*in_tables, *LEXICAL, "default", *best})

    @staticmethod
    def from_bytes(content: bytes, with_answers: bool = True) -> "ResultGroup":
        """Read it back."""
        head, runs = unpack(content, with_answers)
        return ResultGroup(head["data"], head["split"], head["limit"], head["rows"], runs)


@dataclass
class StoredResults:
    """All groups by the stems of their files, and the provenance of their rows."""

    groups: dict[str, ResultGroup]
    provenance: list[dict[str, Any]]

    @staticmethod
    def load(folder: Path = RESULTS, with_answers: bool = True) -> "StoredResults":
        """Read a folder; empty if there is none. The rows and the names of the runs are there without their answers."""
        groups = [ResultGroup.from_bytes(path.read_bytes(), with_answers) for path in folder.glob(f"*{SUFFIX}")]
        path = folder / PROVENANCE
        provenance = json.loads(lzma.decompress(path.read_bytes())) if path.is_file() else []
        return StoredResults(_in_order(groups), provenance)

    def save(self, folder: Path = RESULTS) -> None:
        """Write all files."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, group in self.groups.items():
            (folder / f"{name}{SUFFIX}").write_bytes(group.to_bytes())
        lines = ",\n".join(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) for entry in self.provenance)
        (folder / PROVENANCE).write_bytes(lzma.compress(f"[\n{lines}\n]\n".encode()))

    def merge(self, *folders: Path, drop: Sequence[str] = (), recompute: bool = False) -> None:
        """Add the runs of folders written by `longmatch evaluate`, and remove the rows whose SET/MODEL matches `drop`
        because they were measured wrongly; then compute the rows of every group that changed, once, or of all.
        """
        changed = {name for folder in folders for name in self._add_runs(folder)} | self._remove(drop)
        changed |= set(self.groups) if recompute else set()
        self.groups = _in_order(self.groups.values())
        for name in sorted(changed):
            self.groups[name].compute_rows()
        for group in self.groups.values():
            original = self.groups.get(group.name.replace(SHUFFLED, "", 1))
            if original and group.data.endswith(SHUFFLED) and changed & {group.name, original.name}:
                rows = rows_without_tests(group.runs)  # compared with the same set in its original order
                compare_shuffled(rows, rows_without_tests(original.runs))
                compared = {row.model: row.to_dict().get("against_unshuffled") for row in rows}
                for row in group.rows:
                    if compared.get(row["model"]):
                        row["against_unshuffled"] = rounded(compared[row["model"]])

    def _add_runs(self, folder: Path) -> list[str]:
        """Add the runs of a folder; the names of their groups."""
        new: dict[str, ResultGroup] = {}
        for run in load_runs(folder):
            group = ResultGroup(run.data, run.split, run.limit)
            new.setdefault(group.name, group).runs.append(run)
        if not new:
            raise LongmatchError(f"{folder} holds no runs. Name a folder written by longmatch evaluate.")
        for name, group in new.items():
            rows = rows_without_tests(group.runs)
            for row in rows:
                path = fidelity_path(folder, group.data, row.model, group.split)
                row.fidelity = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
            stored = self.groups.setdefault(name, ResultGroup(group.data, group.split, group.limit))
            self._record_provenance(stored, rows)
            stored.add(group.runs, {row.model: row.fidelity for row in rows if row.fidelity})
        return list(new)

    def _remove(self, patterns: Sequence[str]) -> set[str]:
        """Remove the rows that match; the names of their groups."""
        changed = set()
        for group in self.groups.values():
            models = {each["model"] for each in group.rows} | {run.model for run in group.runs}
            dropped = {model for model in models if any(fnmatch(f"{group.data}/{model}", each) for each in patterns)}
            if dropped:
                group.rows = [row for row in group.rows if row["model"] not in dropped]
                group.runs = [run for run in group.runs if run.model not in dropped]
                self._forget_provenance(group, dropped)
                changed.add(group.name)
        return changed

    def _forget_provenance(self, group: ResultGroup, models: Container[str]) -> None:
        """Remove models of a group from all entries."""
        for entry in self.provenance:
            entry["rows"] = {
                data: [model for model in named if data != group.label or model not in models]
                for data, named in entry["rows"].items()
            }
            entry["rows"] = {data: named for data, named in entry["rows"].items() if named}
        self.provenance = [entry for entry in self.provenance if entry["rows"] or entry.get("explanations")]

    def _record_provenance(self, group: ResultGroup, rows: Sequence[ResultRow]) -> None:
        """Add the entries of new rows; where a row keeps none of its old runs, its old entries go."""
        new = {(run.model, run.trained) for row in rows for run in row.runs}
        kept = {run.model for run in group.runs if (run.model, run.trained) not in new}
        self._forget_provenance(group, {model for model, _ in new} - kept)
        entries = provenance_entries(rows)
        for entry in entries:  # looked up now, while the history is available
            if not entry["commit"] and entry["code"]:
                entry["commit"] = commit_of(entry["code"])
        self.provenance = _merged([*self.provenance, *entries])


def _in_order(groups: Iterable[ResultGroup]) -> dict[str, ResultGroup]:
    return {group.name: group for group in sorted(groups, key=lambda g: (g.data, g.split, g.limit or 0))}


def _drop_untested_best(row: StoredRow, rows: Sequence[StoredRow]) -> None:
    """Remove a row's comparison with the best other row where another is or may be the best: they were not tested."""
    others = {other["model"]: other for other in rows if other is not row and not other.get("study")}
    untrained = {name: other for name, other in others.items() if not other.get("seeds")}
    for mark, key, among in (("*", "against_best_other", others), ("^", "against_best_untrained", untrained)):
        for name, comparison in list(row.get(key, {}).items()):
            values = {model: _value(other, name) for model, other in among.items()}
            if max(values.values(), default=-1.0) > values.get(comparison["model"], -1.0):
                del row[key][name]
                row.get("marks", {})[name] = row.get("marks", {}).get(name, "").replace(mark, "")


def _value(row: StoredRow, name: str) -> float:
    """A row's measure; one that was never computed and no longer can be may have been anything."""
    kinds = {isinstance(parse(measure), RankingMeasure) for measure in row["measures"]}
    unknown = 1.0 if isinstance(parse(name), RankingMeasure) in kinds else -1.0
    return float(row["measures"].get(name, unknown))


def _merged(entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Merge entries that differ only in their rows and weights."""
    merged: dict[str, dict[str, Any]] = {}
    for entry in entries:
        facts = {key: entry[key] for key in ("command", "commit", "code", "machine", "versions")}
        first = merged.setdefault(json.dumps(facts, sort_keys=True), entry)
        if first is not entry:
            first["weights"] += [weights for weights in entry["weights"] if weights not in first["weights"]]
            for kind in ("rows", "explanations"):
                for data, models in entry.get(kind, {}).items():
                    listed = first.setdefault(kind, {}).setdefault(data, [])
                    listed += [model for model in models if model not in listed]
    return list(merged.values())
