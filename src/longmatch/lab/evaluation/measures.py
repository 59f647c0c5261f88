"""Measures as objects with a name and parameters: `nDCG@10`, `MRR`, `MPR`, `HR@10`, `F1`, ...

Those of rankings are one value per query, from 0 to 1; a run's measure is the mean over all judged queries, and a query
missing from the run, or without relevant documents, scores 0. Those of pairs take many sets of weights at once, so that
a bootstrap is one call and not a loop over samples.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from longmatch.errors import LongmatchError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
RANKING_DEFAULTS = ("nDCG@10", "nDCG@20", "MRR", "MAP", "MPR", "HR@10", "HR@100", "recall@100", "mrr_released")
PAIR_DEFAULTS = ("F1", "accuracy", "precision", "recall", "average_precision", "roc_auc")


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


@dataclass(frozen=True)
class RankingMeasure(ABC):
    """A measure of one query's ranking; `cutoff` limits it to the top k."""

    cutoff: int | None = None

    @property
    def name(self) -> str:
        """Its name in tables: `nDCG@10`."""
        label = type(self).__name__
        return label if self.cutoff is None else f"{label}@{self.cutoff}"

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


class mrr_released(RankingMeasure):
    """MRR as SDR's released code counts it: ranks 1 and 2 both give 1.0, rank r gives 1 / (r - 1).

    Only for comparing with the published tables.
    """

    def of(self, result: QueryResult) -> float:
        """1 / max(1, rank - 1), 0 if none is found."""
        ranks = self._inside(result)
        return float(1 / max(1.0, ranks[0] - 1)) if len(ranks) else 0.0


class MPR(RankingMeasure):
    """SDR's mean percentile rank of the relevant documents: 1 - (rank - 1) / documents ranked; not found is 0."""

    def of(self, result: QueryResult) -> float:
        """The mean over the relevant documents."""
        return float((1 - (self._inside(result) - 1) / max(1, result.ranked)).sum() / len(result.ideal))


class recall(RankingMeasure):
    """The share of the relevant documents found (in the top k)."""

    def of(self, result: QueryResult) -> float:
        """Found over relevant."""
        return len(self._inside(result)) / len(result.ideal)


class HR(recall):
    """SDR's hit ratio: the share of the relevant documents in the top k. Equals recall@k."""


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


@dataclass(frozen=True)
class PairPredictions:
    """Labelled pairs with their scores, and the threshold from which a pair is predicted to match.

    Where only the predictions are left of the scores, `known` has the measures that depend on more: these cannot be
    tested.
    """

    labels: npt.NDArray[np.bool_]
    scores: Floats
    threshold: float | None = None
    known: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def order(self) -> Ints:
        """The pairs by falling score."""
        return np.argsort(-self.scores, kind="stable")

    @cached_property
    def steps(self) -> Ints:
        """The last position of each distinct score in that order: only there can a threshold lie."""
        ordered = self.scores[self.order]
        return np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))

    def cumulative_counts(self, weights: Floats) -> tuple[Floats, Floats]:
        """True and false positives at every step, starting from zero: (samples, steps + 1)."""
        ordered, labels = weights[:, self.order], self.labels[self.order]
        tied = len(self.steps) < ordered.shape[1]
        counts = []
        for kind in (labels, ~labels):
            sums = np.zeros((len(ordered), ordered.shape[1] + 1), ordered.dtype)
            np.cumsum(ordered * kind, axis=1, out=sums[:, 1:])
            counts.append(sums[:, np.append(0, self.steps + 1)] if tied else sums)
        return counts[0], counts[1]

    @property
    def confusion(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Indicators (0 or 1) of true positives, false positives, false negatives and true negatives."""
        positive = self.scores >= (np.inf if self.threshold is None else self.threshold)
        cells = positive & self.labels, positive & ~self.labels, ~positive & self.labels, ~positive & ~self.labels
        tp, fp, fn, tn = (cell.astype(float) for cell in cells)
        return tp, fp, fn, tn


class PairMeasure(ABC):
    """A measure of pair classification."""

    needs_threshold = True

    @property
    @abstractmethod
    def name(self) -> str:
        """Its name in tables."""

    @abstractmethod
    def weighted(self, predictions: PairPredictions, weights: Floats) -> Floats:
        """The measure under each row of weights: (samples, pairs) -> (samples,)."""

    def __call__(self, predictions: PairPredictions) -> float:
        """The measure of all pairs, each counted once."""
        if self.name in predictions.known:
            return predictions.known[self.name]
        return float(self.weighted(predictions, np.ones((1, len(predictions.labels))))[0])


@dataclass(frozen=True)
class ThresholdMeasure(PairMeasure):
    """Accuracy, precision, recall or F1 at the threshold; 0 / 0 is 0."""

    kind: str

    @property
    def name(self) -> str:
        """Its name in tables."""
        return self.kind

    def weighted(self, predictions: PairPredictions, weights: Floats) -> Floats:
        """From the weighted confusion matrix."""
        return self.of(*(weights @ cell for cell in predictions.confusion))

    def of(self, tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
        """From the numbers of true and false positives, false and true negatives."""
        if self.kind == "accuracy":
            return _over(tp + tn, tp + fp + fn + tn)
        if self.kind == "precision":
            return _over(tp, tp + fp)
        if self.kind == "recall":
            return _over(tp, tp + fn)
        return _over(2 * tp, 2 * tp + fp + fn)


class AveragePrecision(PairMeasure):
    """The precision at each recall level, weighted by the gain in recall; no interpolation."""

    name = "average_precision"
    needs_threshold = False

    def weighted(self, predictions: PairPredictions, weights: Floats) -> Floats:
        """The sum of precision times the gain in recall."""
        true, false = predictions.cumulative_counts(weights)
        found = true[:, 1:] + false[:, 1:]
        precision = true[:, 1:] / np.maximum(found, 1e-30, out=found)  # 0 / 0 is 0
        return _over(np.einsum("ij,ij->i", np.diff(true, axis=1), precision), true[:, -1])


class RocAuc(PairMeasure):
    """The probability that a matching pair scores above one that does not match, ties counted half."""

    name = "roc_auc"
    needs_threshold = False

    def weighted(self, predictions: PairPredictions, weights: Floats) -> Floats:
        """The area under the curve by trapezoids."""
        true, false = predictions.cumulative_counts(weights)
        area = (np.diff(false, axis=1) * (true[:, 1:] + true[:, :-1]) / 2).sum(axis=1)
        return _over(area, true[:, -1] * false[:, -1])


def calibration_error(
    labels: npt.NDArray[np.bool_], scores: Floats, bins: int = 10, weights: Floats | None = None
) -> float:
    """The expected calibration error (ECE) of scores that are probabilities; 0 if perfectly calibrated.

    Pairs fall into equal-width bins by score; the gap between a bin's mean score and its share of matching pairs counts
    by the number of pairs (Guo et al., 2017, equation 3), or by their `weights`.
    """
    probabilities = np.clip(scores, 0.0, 1.0)  # a pair that could not be scored is predicted not to match
    bin = np.minimum((probabilities * bins).astype(np.int64), bins - 1)
    pair_weights = np.ones(len(labels)) if weights is None else weights
    gaps = np.bincount(bin, pair_weights * (probabilities - labels), bins)
    return float(np.abs(gaps).sum() / (pair_weights.sum() or 1.0))


def best_threshold(labels: npt.NDArray[np.bool_], scores: Floats) -> float:
    """The threshold with the best F1, halfway between two neighbouring scores; the highest of several.

    A pair that could not be scored (minus infinity) is never predicted to match.

    >>> best_threshold(np.array([True, True, False]), np.array([0.9, 0.7, 0.3]))
    0.5
    """
    predictions = PairPredictions(labels, scores)
    true, false = (row[0, 1:] for row in predictions.cumulative_counts(np.ones((1, len(labels)))))
    ordered = scores[predictions.order]
    f1 = np.where(np.isfinite(ordered[predictions.steps]), _over(2 * true, true + false + labels.sum()), -1.0)
    if not len(f1) or f1.max() < 0:
        return np.inf
    last = int(predictions.steps[int(np.argmax(f1))])
    lower = ordered[last + 1] if last + 1 < len(ordered) else ordered[last]
    middle = (ordered[last] + lower) / 2 if np.isfinite(lower) else ordered[last]
    return float(middle if middle > lower else ordered[last])


def _over(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros_like(part, dtype=np.float64), where=whole > 0)


Measure = RankingMeasure | PairMeasure

_RANKING: dict[str, type[RankingMeasure]] = {
    kind.__name__.lower(): kind for kind in (nDCG, MRR, mrr_released, MPR, HR, MAP, recall)
}
_THRESHOLD = {kind.lower(): ThresholdMeasure(kind) for kind in ("accuracy", "precision", "recall", "F1")}
_PAIRS: dict[str, PairMeasure] = {**_THRESHOLD, "average_precision": AveragePrecision(), "roc_auc": RocAuc()}


def parse(name: str) -> Measure:
    """The measure of that name, in any case. `recall@k` is a ranking measure, plain `recall` one of pairs.

    >>> parse("ndcg@10").name, parse("F1").name, parse("recall").needs_threshold
    ('nDCG@10', 'F1', True)
    """
    kind, at, cutoff = name.strip().lower().partition("@")
    kind = re.sub(r"[ -]", "_", kind)
    if at and kind in _RANKING and re.fullmatch(r"[1-9]\d{0,8}", cutoff):
        return _RANKING[kind](int(cutoff))
    if not at and kind in _PAIRS:
        return _PAIRS[kind]
    if not at and kind in _RANKING and kind != "hr":
        return _RANKING[kind]()
    known = ", ".join([*RANKING_DEFAULTS, *PAIR_DEFAULTS])
    raise LongmatchError(f"There is no measure {name.strip()}. Name some of {known}, with any number after @.")


def parse_all(names: str) -> list[Measure]:
    """Comma-separated measures, without repetitions."""
    measures = (parse(name) for name in names.split(",") if name.strip())
    return list({measure.name: measure for measure in measures}.values())
