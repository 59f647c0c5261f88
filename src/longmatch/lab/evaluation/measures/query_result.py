"""The ranks of a query's relevant documents, which all ranking measures are computed from."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class QueryResult:
    """One query's relevant documents: ranks (from 1, rising) and grades of those found, and the grades of all."""

    ranks: Ints
    grades: Ints
    ideal: Ints  # grades of all relevant documents, found or not, falling
    ranked: int  # documents in the ranking

    @staticmethod
    def empty(grades: Mapping[str, int]) -> "QueryResult":
        """A query that found nothing."""
        nothing = np.empty(0, dtype=np.int64)
        return QueryResult(nothing, nothing, _ideal(grades), 0)


def rank_query(grades: Mapping[str, int], scores: Mapping[str, float] | None) -> QueryResult:
    """Rank the scored documents and find the relevant ones; a query without scores finds nothing.

    Ties are broken by document id, the later id first, as in trec_eval. The order of the mapping is irrelevant.

    >>> rank_query({"a": 1, "c": 2, "x": 1}, {"a": 0.5, "b": 0.9, "c": 0.5}).ranks.tolist()
    [2, 3]
    """
    if not scores:
        return QueryResult.empty(grades)
    ids = sorted(scores)
    place = {id: i for i, id in enumerate(ids)}
    scored = [id for id in grades if id in place]
    values = np.array([scores[id] for id in ids], dtype=np.float64)
    return find_ranks(values, np.arange(len(ids)), [place[id] for id in scored], [grades[id] for id in scored], grades)


def find_ranks(
    scores: Floats, order: Ints, places: list[int], place_grades: list[int], grades: Mapping[str, int]
) -> QueryResult:
    """The ranks of the documents at `places`, with their grades; `grades` are those of all judged documents.

    `order` numbers the documents by id and breaks ties. NaN counts as the lowest score.
    """
    relevant = [(place, grade) for place, grade in zip(places, place_grades, strict=True) if grade > 0]
    at = np.array([place for place, _ in relevant], dtype=np.int64)
    scores = np.where(np.isnan(scores), -np.inf, scores)
    score = scores[at][:, None]
    before = (scores > score) | ((scores == score) & (order > order[at][:, None]))
    ranks = 1 + before.sum(axis=1)
    rising = np.argsort(ranks)
    found = np.array([grade for _, grade in relevant], dtype=np.int64)
    return QueryResult(ranks[rising], found[rising], _ideal(grades), len(scores))


def _ideal(grades: Mapping[str, int]) -> Ints:
    return np.array(sorted((grade for grade in grades.values() if grade > 0), reverse=True), dtype=np.int64)
