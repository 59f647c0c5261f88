"""Measures of a ranking, from 0 to 1, one value a query; the measure of a run is their mean over all judged queries.

A query that the run does not hold, or that has no true answer, scores 0.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from longmatch.lab.evaluation.measures.answers import Answers, Floats, find_answers


@dataclass(frozen=True)
class RankingMeasure(ABC):
    """A measure of one query's ranking; `cutoff` limits it to the top k."""

    cutoff: int | None = None

    @property
    def name(self) -> str:
        """As it is written: `nDCG@10`."""
        return self._label if self.cutoff is None else f"{self._label}@{self.cutoff}"

    @property
    def _label(self) -> str:
        return type(self).__name__

    @abstractmethod
    def of(self, answers: Answers) -> float:
        """The value for a query with at least one true answer."""

    def __call__(self, answers: Answers) -> float:
        """The value for any query."""
        return self.of(answers) if len(answers.wanted) else 0.0

    def each(self, answers: Sequence[Answers]) -> Floats:
        """The values of many queries."""
        return np.array([self(one) for one in answers], dtype=np.float64)

    def _inside(self, answers: Answers) -> Floats:
        """The ranks within the cutoff."""
        ranks = answers.ranks.astype(np.float64)
        return ranks if self.cutoff is None else ranks[ranks <= self.cutoff]


class nDCG(RankingMeasure):
    """Grades discounted by log2(rank + 1), as a share of the best order's (Jarvelin and Kekalainen, linear gain)."""

    def of(self, answers: Answers) -> float:
        """DCG over ideal DCG."""
        ranks = self._inside(answers)
        ideal = answers.wanted[: self.cutoff]
        best = (ideal / np.log2(np.arange(2, len(ideal) + 2))).sum()
        return float((answers.grades[: len(ranks)] / np.log2(ranks + 1)).sum() / best)


class MRR(RankingMeasure):
    """The reciprocal rank of the best true answer."""

    def of(self, answers: Answers) -> float:
        """1 / rank, 0 if none is found."""
        ranks = self._inside(answers)
        return float(1 / ranks[0]) if len(ranks) else 0.0


class MrrReleased(RankingMeasure):
    """MRR as SDR's released code counts it: ranks 1 and 2 both give 1.0, rank r gives 1 / (r - 1).

    Only for comparing with the published tables.
    """

    @property
    def _label(self) -> str:
        return "mrr_released"

    def of(self, answers: Answers) -> float:
        """1 / max(1, rank - 1), 0 if none is found."""
        ranks = self._inside(answers)
        return float(1 / max(1.0, ranks[0] - 1)) if len(ranks) else 0.0


class MPR(RankingMeasure):
    """SDR's mean percentile rank of the true answers: 1 - (rank - 1) / documents ranked. 1 is first; not found is 0."""

    def of(self, answers: Answers) -> float:
        """The mean over the true answers."""
        return float((1 - (self._inside(answers) - 1) / max(1, answers.ranked)).sum() / len(answers.wanted))


class Recall(RankingMeasure):
    """The share of the true answers found (in the top k)."""

    @property
    def _label(self) -> str:
        return "recall"

    def of(self, answers: Answers) -> float:
        """Found over wanted."""
        return len(self._inside(answers)) / len(answers.wanted)


class HR(Recall):
    """SDR's hit ratio: the share of the true answers in the top k. The same number as recall@k, under SDR's name."""

    @property
    def _label(self) -> str:
        return "HR"


class MAP(RankingMeasure):
    """Average precision: the mean over the true answers of the precision at their rank."""

    def of(self, answers: Answers) -> float:
        """The sum of precisions at the answers found, over all wanted."""
        ranks = self._inside(answers)
        return float((np.arange(1, len(ranks) + 1) / ranks).sum() / len(answers.wanted))


def evaluate_run(
    measure: RankingMeasure, qrels: Mapping[str, Mapping[str, int]], run: Mapping[str, Mapping[str, float]]
) -> float:
    """The mean over all judged queries; those missing from the run count as 0.

    >>> evaluate_run(MRR(), {"q": {"a": 1}, "r": {"a": 1}}, {"q": {"a": 0.2, "b": 0.7}})
    0.25
    """
    values = [measure(find_answers(grades, run.get(query))) for query, grades in qrels.items()]
    return float(np.mean(values)) if values else 0.0
