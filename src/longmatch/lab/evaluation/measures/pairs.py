"""Measures of pair classification, over labelled pairs with a score each.

All of them take weights, many sets at once, so that a bootstrap is one call and not a loop over samples.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from longmatch.lab.evaluation.measures.answers import Floats, Ints


@dataclass(frozen=True)
class Verdicts:
    """Labelled pairs, their scores, and the score from which on a pair is said to belong together."""

    labels: npt.NDArray[np.bool_]
    scores: Floats
    threshold: float | None = None

    @cached_property
    def falling(self) -> Ints:
        """The pairs by falling score."""
        return np.argsort(-self.scores, kind="stable")

    @cached_property
    def steps(self) -> Ints:
        """Where runs of equal scores end, in that order: only there can a threshold lie."""
        ordered = self.scores[self.falling]
        return np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))

    def cumulated(self, weights: Floats) -> tuple[Floats, Floats]:
        """True and false positives at every step, from none: (samples, steps + 1)."""
        ordered, labels = weights[:, self.falling], self.labels[self.falling]
        counts = (np.cumsum(ordered * side, axis=1)[:, self.steps] for side in (labels, ~labels))
        true, false = (np.pad(count, ((0, 0), (1, 0))) for count in counts)
        return true, false

    @property
    def cells(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Which pairs are true positives, false positives, false negatives, true negatives: 1 or 0 each."""
        said = self.scores >= (np.inf if self.threshold is None else self.threshold)
        hit, false_alarm = said & self.labels, said & ~self.labels
        missed, rest = ~said & self.labels, ~said & ~self.labels
        return hit.astype(float), false_alarm.astype(float), missed.astype(float), rest.astype(float)


class PairMeasure(ABC):
    """A measure of many pairs' verdicts."""

    needs_threshold = True

    @property
    @abstractmethod
    def name(self) -> str:
        """As it is written."""

    @abstractmethod
    def weighted(self, verdicts: Verdicts, weights: Floats) -> Floats:
        """The measure under each row of weights: (samples, pairs) -> (samples,)."""

    def __call__(self, verdicts: Verdicts) -> float:
        """The measure of all pairs, each counted once."""
        return float(self.weighted(verdicts, np.ones((1, len(verdicts.labels))))[0])


@dataclass(frozen=True)
class Share(PairMeasure):
    """Accuracy, precision, recall or F1: a share of the pairs at the threshold; nothing over nothing is 0."""

    kind: str

    @property
    def name(self) -> str:
        """As it is written."""
        return self.kind

    def weighted(self, verdicts: Verdicts, weights: Floats) -> Floats:
        """Right over all, by kind."""
        return self.of(*(weights @ cell for cell in verdicts.cells))

    def of(self, hit: Floats, false_alarm: Floats, missed: Floats, rest: Floats) -> Floats:
        """From the numbers of true and false positives, false and true negatives."""
        if self.kind == "accuracy":
            return _over(hit + rest, hit + false_alarm + missed + rest)
        if self.kind == "precision":
            return _over(hit, hit + false_alarm)
        if self.kind == "recall":
            return _over(hit, hit + missed)
        return _over(2 * hit, 2 * hit + false_alarm + missed)


class AveragePrecision(PairMeasure):
    """The precision at each step of recall, weighed by that step; no interpolation."""

    name = "average_precision"
    needs_threshold = False

    def weighted(self, verdicts: Verdicts, weights: Floats) -> Floats:
        """Sum of precision times the recall gained."""
        true, false = verdicts.cumulated(weights)
        precision = _over(true, true + false)
        return _over((np.diff(true, axis=1) * precision[:, 1:]).sum(axis=1), true[:, -1])


class RocAuc(PairMeasure):
    """The chance that a pair that belongs together scores above one that does not, ties counted half."""

    name = "roc_auc"
    needs_threshold = False

    def weighted(self, verdicts: Verdicts, weights: Floats) -> Floats:
        """The area under the curve by trapezoids."""
        true, false = verdicts.cumulated(weights)
        area = (np.diff(false, axis=1) * (true[:, 1:] + true[:, :-1]) / 2).sum(axis=1)
        return _over(area, true[:, -1] * false[:, -1])


def calibration_error(
    labels: npt.NDArray[np.bool_], scores: Floats, bins: int = 10, weights: Floats | None = None
) -> float:
    """The expected calibration error (ECE) of scores that are probabilities: 0 where they come true as often as said.

    Pairs are put into equal bins by score; of each bin, the gap between its mean score and the share of its pairs that
    belong together counts by how many pairs it holds (Guo et al., 2017, equation 3), or by what they weigh.
    """
    said = np.clip(scores, 0.0, 1.0)  # a pair that could not be scored is said not to belong together
    bin = np.minimum((said * bins).astype(np.int64), bins - 1)
    weighed = np.ones(len(said)) if weights is None else weights
    gaps = np.bincount(bin, weighed * (said - labels), bins)
    return float(np.abs(gaps).sum() / (weighed.sum() or 1.0))


def best_threshold(labels: npt.NDArray[np.bool_], scores: Floats) -> float:
    """The threshold of the best F1 on labelled pairs: halfway between two neighbouring scores; the highest of equals.

    A pair that could not be scored (minus infinity) is never said to belong together.

    >>> best_threshold(np.array([True, True, False]), np.array([0.9, 0.7, 0.3]))
    0.5
    """
    verdicts = Verdicts(labels, scores)
    true, false = (row[0, 1:] for row in verdicts.cumulated(np.ones((1, len(labels)))))
    ordered = scores[verdicts.falling]
    f1 = np.where(np.isfinite(ordered[verdicts.steps]), _over(2 * true, true + false + labels.sum()), -1.0)
    if not len(f1) or f1.max() < 0:
        return np.inf
    last = int(verdicts.steps[int(np.argmax(f1))])
    lower = ordered[last + 1] if last + 1 < len(ordered) else ordered[last]
    middle = (ordered[last] + lower) / 2 if np.isfinite(lower) else ordered[last]
    return float(middle if middle > lower else ordered[last])


def _over(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros_like(part, dtype=np.float64), where=whole > 0)
