"""What a model answered on a set, kept as JSON: measures, intervals and tests are worked out from it at any time."""

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from longmatch.lab.datasets.records import Pair
from longmatch.lab.evaluation.measures import Answers, Verdicts
from longmatch.lab.evaluation.measures.answers import Ints
from longmatch.lab.evaluation.protocols import Outcome, Task


@dataclass(frozen=True)
class Run:
    """One model on one split of one set."""

    data: str
    model: str
    split: str
    seed: int
    limit: int | None
    facts: Mapping[str, Any]  # all that the answers depend on
    answers: Mapping[str, Answers]  # by query
    verdicts: Verdicts | None  # of the pairs
    sources: tuple[str, ...]  # the source document of each pair
    documents: int
    unhandled: Mapping[str, str]  # documents the model could not handle, and why
    encoding_seconds: float
    scoring_seconds: float  # of all queries
    device: str
    words: Mapping[str, int] = field(default_factory=dict)  # the length of each query
    trained: int | None = None  # the seed of the training; None for a model that was not trained here
    study: Mapping[str, Any] | None = None  # the study's name, the setting it tries out and this model's value
    made: Mapping[str, Any] = field(default_factory=dict)  # by which command, code, machine and weights

    @property
    def group(self) -> tuple[str, str, int | None, int | None]:
        """Runs of one group answer the same questions."""
        return self.data, self.split, self.limit, self.seed if self.limit else None

    def save(self, folder: Path) -> None:
        """Write the run, whole or not at all."""
        path = run_path(folder, self.data, self.model, self.split, self.limit, self.trained)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}.part")
        part.write_text(json.dumps(self._to_dict(), ensure_ascii=False), encoding="utf-8")
        part.replace(path)

    def _to_dict(self) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in _PLAIN}
        answers = {
            query: [found.ranks.tolist(), found.grades.tolist(), found.wanted.tolist(), found.ranked]
            for query, found in self.answers.items()
        }
        return plain | {"answers": answers, "verdicts": _verdicts_to_dict(self.verdicts)}

    @staticmethod
    def load(path: Path) -> "Run":
        """Read a run back."""
        found = json.loads(path.read_text(encoding="utf-8"))
        answers = {
            query: Answers(_ints(ranks), _ints(grades), _ints(wanted), ranked)
            for query, (ranks, grades, wanted, ranked) in found.pop("answers").items()
        }
        verdicts = found.pop("verdicts")
        return Run(
            **(found | {"sources": tuple(found["sources"])}),
            answers=answers,
            verdicts=_verdicts_from_dict(verdicts) if verdicts else None,
        )


_PLAIN = (
    *("data", "model", "split", "seed", "limit", "facts", "sources", "documents", "unhandled"),
    *("encoding_seconds", "scoring_seconds", "device", "words", "trained", "study", "made"),
)


def run_path(folder: Path, data: str, model: str, split: str, limit: int | None, trained: int | None = None) -> Path:
    """Where a run lies: runs/peps.test.tfidf.json, of a trained model with the seed: runs/acl.test.colde.seed1.json."""
    part = split if limit is None else f"{split}-{limit}"
    seed = "" if trained is None else f".seed{trained}"
    return folder / "runs" / f"{_plain(data)}.{part}.{_plain(model)}{seed}.json"


def load_runs(folder: Path) -> list[Run]:
    """All finished runs, by set and split."""
    return [Run.load(path) for path in sorted((folder / "runs").glob("*.json"))]


def verdicts_of(outcome: Outcome, task: Task) -> tuple[Verdicts | None, tuple[str, ...]]:
    """The pairs' verdicts, and their sources."""
    pairs: Sequence[Pair] = task.pairs
    return (outcome.verdicts(task) if pairs else None), tuple(pair.source for pair in pairs)


def _verdicts_to_dict(verdicts: Verdicts | None) -> dict[str, Any] | None:
    if verdicts is None:
        return None
    scores = [score if math.isfinite(score) else None for score in verdicts.scores.tolist()]
    threshold = verdicts.threshold if verdicts.threshold is None or math.isfinite(verdicts.threshold) else None
    return {"labels": verdicts.labels.astype(int).tolist(), "scores": scores, "threshold": threshold}


def _verdicts_from_dict(found: Mapping[str, Any]) -> Verdicts:
    scores = np.array([-np.inf if score is None else score for score in found["scores"]], dtype=np.float64)
    return Verdicts(np.array(found["labels"], dtype=bool), scores, found["threshold"])


def _ints(numbers: list[int]) -> Ints:
    return np.array(numbers, dtype=np.int64)


def _plain(name: str) -> str:
    """A name as part of a file's name."""
    return re.sub(r"[^\w@+-]+", "_", name)
