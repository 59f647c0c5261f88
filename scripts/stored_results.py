"""What was measured, kept in the repository: benchmarks/results, from which docs/benchmarks.md is written at any time.

SET.SPLIT.json holds a set's rows as results.json has them, and what each model answered, in little: the ranks of the
true answers, and the places of the pairs by falling score. Every measure and test is the same worked out from that, so
that rows measured later can be tested against these. about.json says what made the rows.

A row whose answers are lost has no runs. It stays as it was, with the marks it had (`marks`) and with its place among
rows that look equal when rounded (`places`).
"""

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from stored_runs import questions, rounded, run_from_dict, run_to_dict, small

from longmatch.errors import LongmatchError
from longmatch.lab.evaluation.corpus import SHUFFLED
from longmatch.lab.evaluation.measures import RankingMeasure, parse
from longmatch.lab.evaluation.provenance import commit_of
from longmatch.lab.evaluation.reports.about import about
from longmatch.lab.evaluation.reports.write import fidelity_path
from longmatch.lab.evaluation.rows import Row as EvaluatedRow
from longmatch.lab.evaluation.rows import compare_shuffled, make_rows, plain_rows
from longmatch.lab.evaluation.runs import Run, load_runs, run_path

Row = dict[str, Any]

HOME = Path(__file__).parents[1] / "benchmarks" / "results"
ABOUT = "about.json"
EXPLAINED = ("share", "pairs", "score", "deletion", "insertion")
LEFT_OUT = ("unhandled_documents", "each_seed")  # of a row: the runs have them


@dataclass
class Group:
    """All rows that answer the same questions: a set's split."""

    data: str
    split: str
    limit: int | None = None
    rows: list[Row] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Of its file: news.test."""
        return ".".join([self.data, self.split if self.limit is None else f"{self.split}-{self.limit}"])

    @property
    def told(self) -> str:
        """As about.json names it: by the set alone, where the split is the usual one."""
        return self.data if self.split == "test" else f"{self.data} ({self.split})"

    @property
    def asked(self) -> dict[str, list[Any]]:
        """What the runs were asked; some may have been asked for rankings or pairs alone."""
        found = [questions(run) for run in self.runs]
        kinds = ("wanted", "sources", "labels")
        return {kind: next((one[kind] for one in found if one[kind]), []) for kind in kinds}

    @property
    def lost(self) -> list[Row]:
        """Rows whose answers are not at hand any more."""
        measured = {run.model for run in self.runs}
        return [row for row in self.rows if row["model"] not in measured]

    def add(self, runs: Sequence[Run], explained: Mapping[str, Any]) -> None:
        """Put runs in, each in its last one's place, and work the rows out anew; `explained` is by model."""
        fresh = {(run.model, run.trained): run for run in runs}
        kept = [run for run in self.runs if (run.model, run.trained) not in fresh]
        self._check(runs)
        self.runs = sorted([*kept, *fresh.values()], key=_file_name)
        told = {row["model"]: row["fidelity"] for row in self.rows if row.get("fidelity")}
        told |= {model: rounded({key: found[key] for key in EXPLAINED}) for model, found in explained.items()}
        self.rows = [*_worked_out(self.runs), *self.lost]
        for row in self.rows:
            row.update({"fidelity": told[row["model"]]} if row["model"] in told else {})
        self.rows.sort(key=lambda row: run_path(Path(), self.data, row["model"], self.split, self.limit).name)
        for row in self.rows:
            _drop_outdone(row, self.rows)

    def _check(self, runs: Sequence[Run]) -> None:
        """Refuse answers to other questions, which no test could compare."""
        asked = self.asked
        for run in runs:
            mine = questions(run)
            if any(mine[kind] and asked[kind] and mine[kind] != asked[kind] for kind in asked):
                raise LongmatchError(f"{run.model} was asked other questions on {self.name} than the rows at hand.")

    def to_json(self) -> str:
        """One line a row and a run, so that a new one is one line of a difference."""
        head = {"data": self.data, "split": self.split, "limit": self.limit, "asked": self.asked}
        rows = ",\n".join(small(row) for row in self.rows)
        runs = ",\n".join(small(run_to_dict(run)) for run in self.runs)
        return f'{small(head)[:-1]},\n"rows":[\n{rows}\n],\n"runs":[\n{runs}\n]}}\n'

    @staticmethod
    def from_json(text: str) -> "Group":
        """Read it back."""
        found = json.loads(text)
        group = {key: found[key] for key in ("data", "split", "limit")}
        runs = [run_from_dict(run, found["asked"], **group) for run in found["runs"]]
        return Group(**group, rows=found["rows"], runs=runs)


@dataclass
class Stored:
    """All groups, by the names of their files, and what made their rows."""

    groups: dict[str, Group]
    abouts: list[dict[str, Any]]

    @staticmethod
    def load(home: Path = HOME) -> "Stored":
        """What a folder holds; nothing, if there is none."""
        files = [path for path in home.glob("*.json") if path.name != ABOUT]
        groups = [Group.from_json(path.read_text(encoding="utf-8")) for path in files]
        path = home / ABOUT
        abouts = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
        return Stored(_in_order(groups), abouts)

    def save(self, home: Path = HOME) -> None:
        """Write all files."""
        home.mkdir(parents=True, exist_ok=True)
        for name, group in self.groups.items():
            (home / f"{name}.json").write_text(group.to_json(), encoding="utf-8")
        lines = ",\n".join(small(entry) for entry in self.abouts)
        (home / ABOUT).write_text(f"[\n{lines}\n]\n", encoding="utf-8")

    def merge(self, folder: Path) -> None:
        """Add what `longmatch evaluate` wrote into a folder."""
        groups: dict[str, Group] = {}
        for run in load_runs(folder):
            group = Group(run.data, run.split, run.limit)
            groups.setdefault(group.name, group).runs.append(run)
        if not groups:
            raise LongmatchError(f"{folder} holds no answers. Name a folder that longmatch evaluate wrote.")
        for name, group in groups.items():
            rows = plain_rows(group.runs)
            for row in rows:
                path = fidelity_path(folder, group.data, row.model, group.split)
                row.fidelity = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
            mine = self.groups.setdefault(name, Group(group.data, group.split, group.limit))
            self._tell(mine, rows)
            mine.add(group.runs, {row.model: row.fidelity for row in rows if row.fidelity})
        self.groups = _in_order(self.groups.values())
        for group in self.groups.values():
            self._compare_shuffled(group)

    def drop(self, patterns: Sequence[str]) -> None:
        """Forget the rows whose SET/MODEL fits, because they were measured wrongly; the others are tested anew."""
        for group in self.groups.values():
            named = {f"{group.data}/{row['model']}": row["model"] for row in group.rows}
            if left := {model for name, model in named.items() if any(fnmatch(name, each) for each in patterns)}:
                group.rows = [row for row in group.rows if row["model"] not in left]
                group.runs = [run for run in group.runs if run.model not in left]
                group.add([], {})
                self._forget(group, left)

    def _forget(self, group: Group, models: Container[str]) -> None:
        """No longer tell what made rows of a group."""
        for entry in self.abouts:
            entry["rows"] = {
                data: [model for model in named if data != group.told or model not in models]
                for data, named in entry["rows"].items()
            }
            entry["rows"] = {data: named for data, named in entry["rows"].items() if named}
        self.abouts = [entry for entry in self.abouts if entry["rows"] or entry.get("explanations")]

    def _tell(self, group: Group, rows: Sequence[EvaluatedRow]) -> None:
        """What made new rows; where no run of a row stays, what made it before is no longer told."""
        fresh = {(run.model, run.trained) for row in rows for run in row.runs}
        staying = {run.model for run in group.runs if (run.model, run.trained) not in fresh}
        self._forget(group, {model for model, _ in fresh} - staying)
        self.abouts = _joined([*self.abouts, *({**entry, "commit": _commit(entry)} for entry in about(rows))])

    def _compare_shuffled(self, group: Group) -> None:
        """With the rows of the same set in its own order."""
        plain = self.groups.get(group.name.replace(SHUFFLED, "", 1)) if group.data.endswith(SHUFFLED) else None
        if plain is None:
            return
        rows = plain_rows(group.runs)
        compare_shuffled(rows, plain_rows(plain.runs))
        found = {row.model: row.to_dict().get("against_unshuffled") for row in rows}
        for row in group.rows:
            row.update({"against_unshuffled": rounded(found[row["model"]])} if found.get(row["model"]) else {})


def _in_order(groups: Iterable[Group]) -> dict[str, Group]:
    return {group.name: group for group in sorted(groups, key=lambda g: (g.data, g.split, g.limit or 0))}


def _worked_out(runs: Sequence[Run]) -> list[Row]:
    rows = (row.to_dict() for row in make_rows(runs))
    return [rounded({key: value for key, value in row.items() if key not in LEFT_OUT}) for row in rows]


def _drop_outdone(row: Row, rows: Sequence[Row]) -> None:
    """Take back what a row says of the best other row, where another is or may be the best: they were not tested."""
    others = {other["model"]: other for other in rows if other is not row and not other.get("study")}
    untrained = {name: other for name, other in others.items() if not other.get("seeds")}
    for mark, key, among in (("*", "against_best_other", others), ("^", "against_best_untrained", untrained)):
        for name, found in list(row.get(key, {}).items()):
            values = {model: _value(other, name) for model, other in among.items()}
            if max(values.values(), default=-1.0) > values.get(found["model"], -1.0):
                del row[key][name]
                row.get("marks", {})[name] = row.get("marks", {}).get(name, "").replace(mark, "")


def _value(row: Row, name: str) -> float:
    """A row's measure. One that was not worked out while the answers were at hand may have been anything."""
    kinds = {isinstance(parse(measure), RankingMeasure) for measure in row["measures"]}
    unknown = 1.0 if isinstance(parse(name), RankingMeasure) in kinds else -1.0
    return float(row["measures"].get(name, unknown))


def _joined(entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Entries alike but for their rows and weights as one."""
    found: dict[str, dict[str, Any]] = {}
    for entry in entries:
        facts = {key: entry[key] for key in ("command", "commit", "code", "machine", "versions")}
        mine = found.setdefault(json.dumps(facts, sort_keys=True), entry)
        if mine is not entry:
            mine["weights"] += [weights for weights in entry["weights"] if weights not in mine["weights"]]
            for kind in ("rows", "explanations"):
                for data, models in entry.get(kind, {}).items():
                    had = mine.setdefault(kind, {}).setdefault(data, [])
                    had += [model for model in models if model not in had]
    return list(found.values())


def _commit(entry: Mapping[str, Any]) -> str | None:
    """Found while the history is at hand."""
    found: str | None = entry["commit"] or (commit_of(entry["code"]) if entry["code"] else None)
    return found


def _file_name(run: Run) -> str:
    return run_path(Path(), run.data, run.model, run.split, run.limit, run.trained).name
