"""Confidence intervals and significance tests, seeded, as matrix products."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from longmatch.lab.evaluation.measures import Floats, PairMeasure, PairPredictions, ThresholdMeasure

SAMPLES = 2_000  # of a bootstrap
FLIPS = 10_000  # of a randomisation test
CELLS = 500_000  # weights at a time: few enough for a CPU's cache


@dataclass(frozen=True)
class Interval:
    """A 95 % confidence interval."""

    low: float
    high: float

    @staticmethod
    def of(samples: Floats) -> "Interval":
        """From bootstrap samples."""
        low, high = np.quantile(samples, [0.025, 0.975])
        return Interval(float(low), float(high))


@dataclass(frozen=True)
class Comparison:
    """One row compared with another on the same labels: the difference and its significance.

    `p` is from a randomisation test over queries (for pairs: a paired bootstrap), `p_t` from Student's paired t-test.
    """

    difference: float
    p: float
    p_t: float | None = None

    @property
    def significant(self) -> bool:
        """At the 5 % level, not corrected for the number of rows."""
        return self.p < 0.05


def bootstrap_means(values: Floats, seed: int = 0) -> Floats:
    """The means of SAMPLES bootstrap samples of the queries."""
    count = len(values)
    rng = np.random.default_rng(seed)
    shares = np.full(count, 1 / count)
    return np.concatenate(
        [rng.multinomial(count, shares, size=rows) @ values / count for rows in _rows(SAMPLES, count)]
    )


def bootstrap_pairs(
    measure: PairMeasure, predictions: PairPredictions, sources: Sequence[str], seed: int = 0
) -> Floats:
    """A pair measure on SAMPLES bootstrap samples of source documents, whose pairs are not independent.

    The same seed draws the same documents for every model, so that two rows can be compared sample by sample.
    """
    names, cluster = np.unique(np.array(sources), return_inverse=True)
    draws = _draws(len(names), seed)
    if isinstance(measure, ThresholdMeasure):  # counts can be summed by document first
        cells = np.stack([np.bincount(cluster, cell, len(names)) for cell in predictions.confusion], axis=1)
        return measure.of(*(draws.astype(np.float64) @ cells).T)
    ends = np.cumsum([0, *_rows(SAMPLES, len(sources))])
    parts: Iterator[Any] = (draws[a:b, cluster].astype(np.float32) for a, b in pairwise(ends.tolist()))
    return np.concatenate([measure.weighted(predictions, weights) for weights in parts]).astype(np.float64)


def compare_queries(values: Floats, others: Floats, seed: int = 0) -> Comparison:
    """A randomisation test over queries: under the null hypothesis the sign of each difference is random.

    >>> compare_queries(np.array([0.9, 0.8, 0.7]), np.array([0.9, 0.8, 0.7])).p
    1.0
    """
    from scipy.stats import ttest_rel

    differences = values - others
    if not np.any(differences):
        return Comparison(0.0, 1.0, 1.0)
    means = _signs(len(differences), seed) @ differences / len(differences)
    observed = abs(differences.mean()) - 1e-12  # as large as observed, whatever the order of summation
    p = (int((abs(means) >= observed).sum()) + 1) / (FLIPS + 1)
    p_t = float(ttest_rel(values, others).pvalue) if np.ptp(differences) and len(differences) > 1 else None
    return Comparison(float(differences.mean()), p, p_t)


def compare_bootstraps(difference: float, samples: Floats, others: Floats) -> Comparison:
    """Two rows on the same bootstrap samples: how often their difference changes sign."""
    differences = samples - others
    tail = min(int((differences <= 0).sum()), int((differences >= 0).sum()))
    return Comparison(difference, min(1.0, 2 * (tail + 1) / (len(differences) + 1)))


@lru_cache(maxsize=2)
def _draws(count: int, seed: int) -> npt.NDArray[np.int32]:
    """How often each of `count` documents is drawn: (SAMPLES, documents)."""
    shares = np.full(count, 1 / count)
    return np.random.default_rng(seed).multinomial(count, shares, size=SAMPLES).astype(np.int32)


@lru_cache(maxsize=2)
def _signs(count: int, seed: int) -> Floats:
    """Random signs: (FLIPS, queries)."""
    drawn = np.random.default_rng(seed).integers(0, 2, (FLIPS, count), dtype=np.int8)
    return drawn.astype(np.float64) * 2 - 1


def _rows(total: int, width: int) -> Iterator[int]:
    """The numbers of samples to draw at a time."""
    step = max(1, CELLS // max(1, width))
    yield from (min(step, total - start) for start in range(0, total, step))
