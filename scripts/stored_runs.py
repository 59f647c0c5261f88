"""What a model answered, in little: the ranks of the true answers, and the places of the pairs by falling score.

Every measure and test is the same worked out from that. What all runs of a set share is kept once.
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from longmatch.lab.evaluation.measures import Answers, Verdicts
from longmatch.lab.evaluation.measures.answers import Ints
from longmatch.lab.evaluation.runs import Run

DIGITS = 6  # of numbers
KEPT = ("model", "trained", "seed", "documents", "unhandled", "encoding_seconds", "scoring_seconds", "device", "study")


def questions(run: Run) -> dict[str, list[Any]]:
    """What was asked: the grades of each query's true answers, and each pair's source and label.

    Queries and sources are numbers, in the order of their ids: no more is needed to tell them apart.
    """
    names = {name: number for number, name in enumerate(sorted(set(run.sources)))}
    return {
        "wanted": [run.answers[query].wanted.tolist() for query in sorted(run.answers)],
        "sources": [names[name] for name in run.sources],
        "labels": run.verdicts.labels.astype(int).tolist() if run.verdicts else [],
    }


def run_to_dict(run: Run) -> dict[str, Any]:
    """For the file of its set."""
    found = {key: rounded(getattr(run, key)) for key in KEPT}
    found["depth"] = run.facts.get("model", {}).get("depth")
    if run.answers:
        answers = [run.answers[query] for query in sorted(run.answers)]
        found["answers"] = [[one.ranks.tolist(), one.grades.tolist(), one.ranked] for one in answers]
    if run.verdicts:
        found["places"], found["said"] = _places(run.verdicts)
    return found


def run_from_dict(found: Mapping[str, Any], asked: Mapping[str, list[Any]], **group: Any) -> Run:
    """Read it back; `group` is the set, split and limit."""
    answers = {
        _name(number): Answers(_ints(ranks), _ints(grades), _ints(asked["wanted"][number]), ranked)
        for number, (ranks, grades, ranked) in enumerate(found.get("answers", ()))
    }
    return Run(
        **{key: found[key] for key in KEPT},
        **group,
        facts={} if found["depth"] is None else {"model": {"depth": found["depth"]}},
        answers=answers,
        verdicts=_verdicts(found, asked["labels"]) if "places" in found else None,
        sources=tuple(map(_name, asked["sources"])) if "places" in found else (),
    )


def _verdicts(found: Mapping[str, Any], labels: list[int]) -> Verdicts:
    threshold = None if found["said"] is None else -float(found["said"])
    return Verdicts(np.array(labels, dtype=bool), -np.array(found["places"], dtype=np.float64), threshold)


def _name(number: int) -> str:
    """An id for a number, in the same order."""
    return f"{number:06d}"


def _ints(numbers: list[int]) -> Ints:
    return np.array(numbers, dtype=np.int64)


def _places(verdicts: Verdicts) -> tuple[list[int], int | None]:
    """Each pair's place by falling score, equal scores alike; and the place of the last that is said to belong.

    >>> _places(Verdicts(np.array([True, False, True]), np.array([0.2, 0.9, 0.2]), 0.5))
    ([2, 1, 2], 1)
    """
    values, places = np.unique(-verdicts.scores, return_inverse=True)
    said = None if verdicts.threshold is None else int((values <= -verdicts.threshold).sum())
    return (places + 1).tolist(), said


def rounded(value: Any) -> Any:
    """Numbers with few digits."""
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, Mapping):
        return {key: rounded(one) for key, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list | tuple) else value


def small(value: Any) -> str:
    """As JSON in one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
