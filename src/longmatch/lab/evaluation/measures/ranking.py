"""Ranking measures from 0 to 1, one value per query; a run's measure is the mean over all judged queries.

A query missing from the run, or without relevant documents, scores 0.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from longmatch.lab.evaluation.measures.query_result import Floats, QueryResult, rank_query


@dataclass(frozen=True)
class RankingMeasure(ABC):
    """A measure of one query's ranking; `cutoff` limits it to the top k."""

    cutoff: int | None = None

    @property
    def name(self) -> str:
        """Its name in tables: `nDCG@10`."""
        return self._label if self.cutoff is None else f"{self._label}@{self.cutoff}"

    @property
    def _label(self) -> str:
        return type(self).__name__

    @abstractmethod
    def of(self, result: QueryResult) -> float:
        """The value for a query with at least one relevant document."""

    def __call__(self, result: QueryResult) -> float:
        """The value for any query."""
        return self.of(result) if len(result.ideal) else 0.0

    def each(self, results: Sequence[QueryResult]) -> Floats:
        """The values of many queries."""
        return np.array([self(result) for result in results], dtype=np.float64)

    def _inside(self, result: QueryResult) -> Floats:
        """The ranks within the cutoff."""
        ranks = result.ranks.astype(np.float64)
        return ranks if self.cutoff is None else ranks[ranks <= self.cutoff]


class nDCG(RankingMeasure):
    """Grades discounted by log2(rank + 1), relative to the ideal order (Jarvelin and Kekalainen, linear gain)."""

    def of(self, result: QueryResult) -> float:
        """DCG over ideal DCG."""
        ranks = self._inside(result)
        ideal = result.ideal[: self.cutoff]
        best = (ideal / np.log2(np.arange(2, len(ideal) + 2))).sum()
        return float((result.grades[: len(ranks)] / np.log2(ranks + 1)).sum() / best)


class MRR(RankingMeasure):
    """The reciprocal rank of the first relevant document."""

    def of(self, result: QueryResult) -> float:
        """1 / rank, 0 if none is found."""
        ranks = self._inside(result)
        return float(1 / ranks[0]) if len(ranks) else 0.0


class MrrReleased(RankingMeasure):
    """MRR as SDR's released code counts it: ranks 1 and 2 both give 1.0, rank r gives 1 / (r - 1).

    Only for comparing with the published tables.
    """

    @property
    def _label(self) -> str:
        return "mrr_released"

    def of(self, result: QueryResult) -> float:
        """1 / max(1, rank - 1), 0 if none is found."""
        ranks = self._inside(result)
        return float(1 / max(1.0, ranks[0] - 1)) if len(ranks) else 0.0


class MPR(RankingMeasure):
    """SDR's mean percentile rank of the relevant documents: 1 - (rank - 1) / documents ranked; not found is 0."""

    def of(self, result: QueryResult) -> float:
        """The mean over the relevant documents."""
        return float((1 - (self._inside(result) - 1) / max(1, result.ranked)).sum() / len(result.ideal))


class Recall(RankingMeasure):
    """The share of the relevant documents found (in the top k)."""

    @property
    def _label(self) -> str:
        return "recall"

    def of(self, result: QueryResult) -> float:
        """Found over relevant."""
        return len(self._inside(result)) / len(result.ideal)


class HR(Recall):
    """SDR's hit ratio: the share of the relevant documents in the top k. Equals recall@k."""

    @property
    def _label(self) -> str:
        return "HR"


class MAP(RankingMeasure):
    """Average precision: the mean over the relevant documents of the precision at their rank."""

    def of(self, result: QueryResult) -> float:
        """The sum of precisions at the documents found, over all relevant."""
        ranks = self._inside(result)
        return float((np.arange(1, len(ranks) + 1) / ranks).sum() / len(result.ideal))


def evaluate_run(
    measure: RankingMeasure, qrels: Mapping[str, Mapping[str, int]], run: Mapping[str, Mapping[str, float]]
) -> float:
    """The mean over all judged queries; those missing from the run count as 0.

    >>> evaluate_run(MRR(), {"q": {"a": 1}, "r": {"a": 1}}, {"q": {"a": 0.2, "b": 0.7}})
    0.25
    """
    values = [measure(rank_query(grades, run.get(query))) for query, grades in qrels.items()]
    return float(np.mean(values)) if values else 0.0
