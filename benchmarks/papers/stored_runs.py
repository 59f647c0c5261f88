"""Compact runs: the ranks of the relevant documents, and the positions of the pairs by falling score.

All measures and tests computed from them are the same. What all runs of a set share is stored once.
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from longmatch.lab.evaluation.measures import Ints, PairPredictions, QueryResult
from longmatch.lab.evaluation.runs import ModelRun

DIGITS = 6  # of numbers
KEPT = ("model", "trained", "seed", "documents", "unhandled", "encoding_seconds", "scoring_seconds", "device", "study")


def labels_of(run: ModelRun) -> dict[str, list[Any]]:
    """The labels a run was evaluated on: the grades of each query's relevant documents, each pair's source and label.

    Queries and sources are numbered in the order of their ids; the ids themselves are not needed.
    """
    names = {name: number for number, name in enumerate(sorted(set(run.sources)))}
    return {
        "wanted": [run.answers[query].ideal.tolist() for query in sorted(run.answers)],
        "sources": [names[name] for name in run.sources],
        "labels": run.verdicts.labels.astype(int).tolist() if run.verdicts else [],
    }


def run_to_dict(run: ModelRun) -> dict[str, Any]:
    """For the file of its set."""
    result = {key: rounded(getattr(run, key)) for key in KEPT}
    result["depth"] = run.facts.get("model", {}).get("depth")
    if run.answers:
        answers = [run.answers[query] for query in sorted(run.answers)]
        result["answers"] = [[query.ranks.tolist(), query.grades.tolist(), query.ranked] for query in answers]
    if run.verdicts:
        result["places"], result["said"] = _places(run.verdicts)
    return result


def run_from_dict(stored: Mapping[str, Any], labels: Mapping[str, list[Any]], **group: Any) -> ModelRun:
    """Read it back; `group` is the set, split and limit."""
    answers = {
        _id(number): QueryResult(_ints(ranks), _ints(grades), _ints(labels["wanted"][number]), ranked)
        for number, (ranks, grades, ranked) in enumerate(stored.get("answers", ()))
    }
    return ModelRun(
        **{key: stored[key] for key in KEPT},
        **group,
        facts={} if stored["depth"] is None else {"model": {"depth": stored["depth"]}},
        answers=answers,
        verdicts=_verdicts(stored, labels["labels"]) if "places" in stored else None,
        sources=tuple(map(_id, labels["sources"])) if "places" in stored else (),
    )


def _verdicts(stored: Mapping[str, Any], labels: list[int]) -> PairPredictions:
    threshold = None if stored["said"] is None else -float(stored["said"])
    return PairPredictions(np.array(labels, dtype=bool), -np.array(stored["places"], dtype=np.float64), threshold)


def _id(number: int) -> str:
    """An id for a number, with the same order."""
    return f"{number:06d}"


def _ints(numbers: list[int]) -> Ints:
    return np.array(numbers, dtype=np.int64)


def _places(verdicts: PairPredictions) -> tuple[list[int], int | None]:
    """Each pair's place by falling score, ties sharing one; and the last place that is predicted to match.

    >>> _places(PairPredictions(np.array([True, False, True]), np.array([0.2, 0.9, 0.2]), 0.5))
    ([2, 1, 2], 1)
    """
    values, places = np.unique(-verdicts.scores, return_inverse=True)
    last = None if verdicts.threshold is None else int((values <= -verdicts.threshold).sum())
    return (places + 1).tolist(), last


def rounded(value: Any) -> Any:
    """The value with its numbers rounded."""
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, Mapping):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list | tuple) else value


def compact_json(value: Any) -> str:
    """JSON on one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
