"""Measures of pair classification, over labelled pairs with a score each.

All take many sets of weights at once, so that a bootstrap is one call and not a loop over samples.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from longmatch.lab.evaluation.measures.query_result import Floats, Ints


@dataclass(frozen=True)
class PairPredictions:
    """Labelled pairs with their scores, and the threshold from which a pair is predicted to match."""

    labels: npt.NDArray[np.bool_]
    scores: Floats
    threshold: float | None = None

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
        true, false = (self._at_steps(ordered * kind) for kind in (labels, ~labels))
        return true, false

    def _at_steps(self, ordered: Floats) -> Floats:
        """The sums up to every step, starting from zero."""
        sums = np.zeros((len(ordered), ordered.shape[1] + 1), ordered.dtype)
        np.cumsum(ordered, axis=1, out=sums[:, 1:])
        tied = len(self.steps) < ordered.shape[1]
        return sums[:, np.append(0, self.steps + 1)] if tied else sums

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
