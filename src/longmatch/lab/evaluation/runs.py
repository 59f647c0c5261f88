"""The results of one model on one set, stored as JSON; measures, intervals and tests are computed from them."""

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
from longmatch.lab.evaluation.measures import PairPredictions, QueryResult
from longmatch.lab.evaluation.measures.query_result import Ints
from longmatch.lab.evaluation.protocols import EvaluationTask, TaskOutcome


@dataclass(frozen=True)
class ModelRun:
    """One model on one split of one set."""

    data: str
    model: str
    split: str
    seed: int
    limit: int | None
    facts: Mapping[str, Any]  # everything the results depend on
    answers: Mapping[str, QueryResult]  # by query
    verdicts: PairPredictions | None  # of the pairs
    sources: tuple[str, ...]  # the source document of each pair
    documents: int
    unhandled: Mapping[str, str]  # documents the model could not handle, and why
    encoding_seconds: float
    scoring_seconds: float  # of all queries
    device: str
    words: Mapping[str, int] = field(default_factory=dict)  # the length of each query
    trained: int | None = None  # the seed of its training; None for an untrained model
    study: Mapping[str, Any] | None = None  # the study's name, the setting it varies and this model's value
    made: Mapping[str, Any] = field(default_factory=dict)  # provenance: command, code, machine and weights

    @property
    def group(self) -> tuple[str, str, int | None, int | None]:
        """Runs of one group are evaluated on the same labels."""
        return self.data, self.split, self.limit, self.seed if self.limit else None

    def save(self, folder: Path) -> None:
        """Write the run atomically."""
        path = run_path(folder, self.data, self.model, self.split, self.limit, self.trained)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}.part")
        part.write_text(json.dumps(self._to_dict(), ensure_ascii=False), encoding="utf-8")
        part.replace(path)

    def _to_dict(self) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in _PLAIN}
        answers = {
            query: [result.ranks.tolist(), result.grades.tolist(), result.ideal.tolist(), result.ranked]
            for query, result in self.answers.items()
        }
        return plain | {"answers": answers, "verdicts": _verdicts_to_dict(self.verdicts)}

    @staticmethod
    def load(path: Path) -> "ModelRun":
        """Read a run back."""
        stored = json.loads(path.read_text(encoding="utf-8"))
        answers = {
            query: QueryResult(_ints(ranks), _ints(grades), _ints(ideal), ranked)
            for query, (ranks, grades, ideal, ranked) in stored.pop("answers").items()
        }
        verdicts = stored.pop("verdicts")
        return ModelRun(
            **(stored | {"sources": tuple(stored["sources"])}),
            answers=answers,
            verdicts=_verdicts_from_dict(verdicts) if verdicts else None,
        )


_PLAIN = (
    *("data", "model", "split", "seed", "limit", "facts", "sources", "documents", "unhandled"),
    *("encoding_seconds", "scoring_seconds", "device", "words", "trained", "study", "made"),
)


def run_path(folder: Path, data: str, model: str, split: str, limit: int | None, trained: int | None = None) -> Path:
    """The path of a run: runs/peps.test.tfidf.json; of a trained model: runs/acl.test.colde.seed1.json."""
    part = split if limit is None else f"{split}-{limit}"
    seed = "" if trained is None else f".seed{trained}"
    return folder / "runs" / f"{_file_name(data)}.{part}.{_file_name(model)}{seed}.json"


def load_runs(folder: Path) -> list[ModelRun]:
    """All finished runs, by set and split."""
    return [ModelRun.load(path) for path in sorted((folder / "runs").glob("*.json"))]


def pair_results(outcome: TaskOutcome, task: EvaluationTask) -> tuple[PairPredictions | None, tuple[str, ...]]:
    """The results of the pairs, if there are any, and their sources."""
    pairs: Sequence[Pair] = task.pairs
    return (outcome.predictions(task) if pairs else None), tuple(pair.source for pair in pairs)


def _verdicts_to_dict(verdicts: PairPredictions | None) -> dict[str, Any] | None:
    if verdicts is None:
        return None
    scores = [score if math.isfinite(score) else None for score in verdicts.scores.tolist()]
    threshold = verdicts.threshold if verdicts.threshold is None or math.isfinite(verdicts.threshold) else None
    return {"labels": verdicts.labels.astype(int).tolist(), "scores": scores, "threshold": threshold}


def _verdicts_from_dict(stored: Mapping[str, Any]) -> PairPredictions:
    scores = np.array([-np.inf if score is None else score for score in stored["scores"]], dtype=np.float64)
    return PairPredictions(np.array(stored["labels"], dtype=bool), scores, stored["threshold"])


def _ints(numbers: list[int]) -> Ints:
    return np.array(numbers, dtype=np.int64)


def _file_name(name: str) -> str:
    """A name as part of a file's name."""
    return re.sub(r"[^\w@+-]+", "_", name)
