"""How the default's evidence becomes a score and a probability: curves through labelled and unrelated pairs.

Every set counts alike. The score's curve is Platt's, sigmoid(slope * evidence + bias), over evidence weighed as for
ranking. The probability has its own weights, and its curve depends on the length of the shorter document.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from longmatch.default.calibration import NEEDS_TITLES, Calibration, Scale
from longmatch.default.probability import Curve, Probability, length_position
from longmatch.default.statistics import CALIBRATION, PROBABILITY
from longmatch.errors import LongmatchError
from longmatch.lab.default.features import FLOORS, PASSAGE_SIDES, PairSides, read_pairs
from longmatch.lab.default.weights import read_weights
from longmatch.lab.evaluation.measures import calibration_error
from longmatch.lab.evaluation.measures.query_result import Floats

UNRELATED_PER_NEGATIVE = 4  # unrelated pairs for each labelled one that does not belong together
LENGTHS = (500, 5000)  # words of a short and of a long document
DECAY = 1e-4  # of the weights, so that pairs that are separated without error do not make them grow for ever

Labels = npt.NDArray[np.bool_]


def write_calibration(folder: Path) -> None:
    """Fit score and probability to the training pairs, and write them as the package holds them."""
    pairs = list(read_pairs(folder, "train").values())
    if not pairs:
        raise LongmatchError(f"{folder} holds no training pairs. Run --step features with sets that have pairs.")
    fit_score(pairs, read_weights(folder)).write(folder / CALIBRATION)
    fit_probability(pairs).write(folder / PROBABILITY)


def fit_score(sets: Sequence[PairSides], weights: Mapping[str, Scale]) -> Calibration:
    """Measure each side's chance level on unrelated pairs, and fit the curve.

    It is fitted to the labelled pairs and UNRELATED_PER_NEGATIVE unrelated ones for each negative, so that documents
    with nothing in common score low. Titles are left out: two documents alone are compared without them.
    """
    scales = {name: replace(scale, chance=_chance(sets, name)) for name, scale in weights.items()}
    uncalibrated = Calibration(scales, slope=1.0, bias=0.0)
    sides = [name for name in uncalibrated.sides if name not in NEEDS_TITLES]
    evidence, labels = [], []
    for pairs in sets:
        unrelated = uncalibrated.evidence({name: pairs.unrelated[name] for name in sides})
        count = UNRELATED_PER_NEGATIVE * int((~pairs.labels).sum())
        some = np.linspace(0, len(unrelated) - 1, count).astype(np.int64)
        labelled = uncalibrated.evidence({name: pairs.labelled[name] for name in sides})
        evidence.append(np.append(labelled, unrelated[some]))
        labels.append(np.append(pairs.labels, np.zeros(len(some), dtype=bool)))
    slope, bias = fit_platt(evidence, labels)
    return Calibration(scales, round(slope, 4), round(bias, 4))


def _chance(sets: Sequence[PairSides], side: str) -> float:
    """The mean over the sets of the median of their unrelated pairs."""
    return round(float(np.mean([max(0.0, float(np.median(pairs.unrelated[side]))) for pairs in sets])), 5)


def fit_platt(evidence: Sequence[Floats], labels: Sequence[Labels]) -> tuple[float, float]:
    """Slope and bias of the curve that makes the labels likeliest (Platt, 1999), every set counting alike."""
    from sklearn.linear_model import LogisticRegression

    weights = equal_weights(labels)
    model = LogisticRegression(C=1e6, max_iter=1000)
    model.fit(np.concatenate(evidence)[:, None], np.concatenate(labels), sample_weight=weights * len(weights))
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def fit_probability(
    sets: Sequence[PairSides], sides: Sequence[str] = PASSAGE_SIDES, lengths: tuple[float, float] = LENGTHS
) -> Probability:
    """The weights, none of them below 0, and the curves that make the labels likeliest.

    By default they are the sides that two documents have without a collection, the same both ways. The slope is 1 for
    long documents, and less for short ones.
    """
    from scipy.optimize import minimize

    scales = {name: Scale(1.0, FLOORS[name], _chance(sets, name)) for name in sides}
    stacked = [np.stack([scale.evidence(p.labelled[name]) for name, scale in scales.items()], axis=1) for p in sets]
    evidence, labels = np.concatenate(stacked), np.concatenate([pairs.labels for pairs in sets])
    long = length_position(np.concatenate([shorter(pairs.labelled) for pairs in sets]), *lengths)
    pair_weights = equal_weights([pairs.labels for pairs in sets])

    def loss(parameters: Floats) -> float:
        weights, (slope, short_bias, long_bias) = parameters[:-3], parameters[-3:]
        logits = (slope + long * (1 - slope)) * (evidence @ weights) + short_bias + long * (long_bias - short_bias)
        return float(pair_weights @ np.logaddexp(0, np.where(labels, -logits, logits)) + DECAY * weights @ weights)

    start = [*np.ones(len(scales)), 0.5, -2.0, -4.0]
    result = minimize(loss, start, bounds=[(0, None)] * (len(scales) + 1) + [(None, None)] * 2)
    *weights, slope, short_bias, long_bias = (round(float(x), 4) for x in result.x)
    weighed = {name: replace(s, weight=weight) for (name, s), weight in zip(scales.items(), weights, strict=True)}
    return Probability(weighed, Curve(lengths[0], slope, short_bias), Curve(lengths[1], 1.0, long_bias))


def probabilities(probability: Probability, sides: Mapping[str, Floats]) -> Floats:
    """How likely each pair belongs together, by its sides and lengths."""
    return probability.of({name: sides[name] for name in probability.scales}, shorter(sides))


def shorter(sides: Mapping[str, Floats]) -> Floats:
    """The number of words of each pair's shorter document."""
    return np.minimum(sides["lengths"], sides["query"])


def equal_weights(labels: Sequence[Labels]) -> Floats:
    """The weight of each pair where every set counts alike; they sum to 1."""
    return np.concatenate([np.full(len(each), 1 / len(each)) for each in labels]) / len(labels)


def error_over_sets(labels: Sequence[Labels], predicted: Sequence[Floats]) -> float:
    """The calibration error over several sets, every one counting alike."""
    return calibration_error(np.concatenate(labels), np.concatenate(predicted), weights=equal_weights(labels))
