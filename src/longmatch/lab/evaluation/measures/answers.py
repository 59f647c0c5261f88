"""Where the true answers of a query stand in a ranking. Every ranking measure is arithmetic on that."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Answers:
    """One query's true answers: the ranks (from 1, rising) and grades of those found, and the grades of all of them."""

    ranks: Ints
    grades: Ints
    wanted: Ints  # grades of all true answers, found or not, falling
    ranked: int  # documents in the ranking

    @staticmethod
    def missing(grades: Mapping[str, int]) -> "Answers":
        """A query the run does not hold: nothing found."""
        nothing = np.empty(0, dtype=np.int64)
        return Answers(nothing, nothing, _wanted(grades), 0)


def find_answers(grades: Mapping[str, int], scores: Mapping[str, float] | None) -> Answers:
    """Rank the scored documents and look the answers up; a query without scores finds nothing.

    Equal scores are ordered by document id, the later id first, as trec_eval does. The order of the mapping plays no
    part.

    >>> find_answers({"a": 1, "c": 2, "x": 1}, {"a": 0.5, "b": 0.9, "c": 0.5}).ranks.tolist()
    [2, 3]
    """
    if not scores:
        return Answers.missing(grades)
    ids = sorted(scores)
    place = {id: i for i, id in enumerate(ids)}
    found = [id for id in grades if id in place]
    values = np.array([scores[id] for id in ids], dtype=np.float64)
    return locate(values, np.arange(len(ids)), [place[id] for id in found], [grades[id] for id in found], grades)


def locate(scores: Floats, order: Ints, places: list[int], found: list[int], grades: Mapping[str, int]) -> Answers:
    """The ranks of the documents at `places`; `order` numbers the documents by id and decides between equal scores.

    A score that is not a number counts as the lowest.
    """
    keep = [(place, grade) for place, grade in zip(places, found, strict=True) if grade > 0]
    at = np.array([place for place, _ in keep], dtype=np.int64)
    scores = np.where(np.isnan(scores), -np.inf, scores)
    mine = scores[at][:, None]
    before = (scores > mine) | ((scores == mine) & (order > order[at][:, None]))
    ranks = 1 + before.sum(axis=1)
    rising = np.argsort(ranks)
    return Answers(ranks[rising], np.array([g for _, g in keep], dtype=np.int64)[rising], _wanted(grades), len(scores))


def _wanted(grades: Mapping[str, int]) -> Ints:
    return np.array(sorted((grade for grade in grades.values() if grade > 0), reverse=True), dtype=np.int64)
