"""How sure a number is, and whether two rows differ. Everything is drawn from a seed, and vectorised."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from longmatch.evaluation.measures.answers import Floats
from longmatch.evaluation.measures.pairs import PairMeasure, Verdicts

SAMPLES = 2_000  # of a bootstrap
FLIPS = 10_000  # of a randomisation test
CELLS = 4_000_000  # drawn at a time


@dataclass(frozen=True)
class Interval:
    """Where a measure lies with 95 % confidence."""

    low: float
    high: float


@dataclass(frozen=True)
class Comparison:
    """One row against another on the same queries: how much it is better, and how likely that is chance.

    `p` is of a randomisation test over queries (over pairs: of a paired bootstrap), `p_t` of Student's paired t-test.
    """

    difference: float
    p: float
    p_t: float | None = None

    @property
    def significant(self) -> bool:
        """At the level of 5 %, not corrected for the number of rows."""
        return self.p < 0.05


def mean_interval(values: Floats, seed: int = 0) -> Interval:
    """The confidence interval of a mean over queries, by bootstrap."""
    if not len(values):
        return Interval(0.0, 0.0)
    rng = np.random.default_rng(seed)
    means = [values[rng.integers(0, len(values), (rows, len(values)))].mean(1) for rows in _rows(SAMPLES, len(values))]
    return _interval(np.concatenate(means))


def compare_means(mine: Floats, theirs: Floats, seed: int = 0) -> Comparison:
    """Query by query: under the null hypothesis each difference might as well have the other sign.

    >>> compare_means(np.array([0.9, 0.8, 0.7]), np.array([0.9, 0.8, 0.7])).p
    1.0
    """
    from scipy.stats import ttest_rel

    differences = mine - theirs
    if not np.any(differences):
        return Comparison(0.0, 1.0, 1.0)
    rng = np.random.default_rng(seed)
    observed = abs(differences.mean()) * (1 - 1e-12)  # as large as observed, whatever the order of summation
    larger = 0
    for rows in _rows(FLIPS, len(differences)):
        signs = rng.integers(0, 2, (rows, len(differences))) * 2 - 1
        larger += int((abs((signs * differences).mean(1)) >= observed).sum())
    spread = bool(np.ptp(differences)) and len(differences) > 1
    p_t = float(ttest_rel(mine, theirs).pvalue) if spread else None
    return Comparison(float(differences.mean()), (larger + 1) / (FLIPS + 1), p_t)


def pair_interval(measure: PairMeasure, verdicts: Verdicts, sources: Sequence[str], seed: int = 0) -> Interval:
    """The confidence interval of a pair measure: whole source documents are drawn, as their pairs hang together."""
    return _interval(_bootstrap(lambda weights: measure.weighted(verdicts, weights), sources, seed))


def compare_pairs(
    measure: PairMeasure, mine: Verdicts, theirs: Verdicts, sources: Sequence[str], seed: int = 0
) -> Comparison:
    """Both rows on the same drawn documents: how often the difference has the other sign."""
    differences = _bootstrap(lambda w: measure.weighted(mine, w) - measure.weighted(theirs, w), sources, seed)
    tail = min(int((differences <= 0).sum()), int((differences >= 0).sum()))
    p = min(1.0, 2 * (tail + 1) / (len(differences) + 1))
    return Comparison(measure(mine) - measure(theirs), p)


def _bootstrap(value: Callable[[Floats], Floats], sources: Sequence[str], seed: int) -> Floats:
    """The value under SAMPLES draws of source documents."""
    names, cluster = np.unique(np.array(sources), return_inverse=True)
    rng = np.random.default_rng(seed)
    shares = np.full(len(names), 1 / len(names))
    draws = (rng.multinomial(len(names), shares, size=rows)[:, cluster] for rows in _rows(SAMPLES, len(sources)))
    return np.concatenate([value(weights.astype(np.float64)) for weights in draws])


def _rows(total: int, width: int) -> Iterator[int]:
    """How many samples to draw at a time."""
    step = max(1, CELLS // max(1, width))
    yield from (min(step, total - start) for start in range(0, total, step))


def _interval(values: Floats) -> Interval:
    low, high = np.quantile(values, [0.025, 0.975])
    return Interval(float(low), float(high))
