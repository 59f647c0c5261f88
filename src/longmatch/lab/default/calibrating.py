"""How the default's evidence becomes a score and a probability: labelled and unrelated pairs, and curves through them.

Every set counts alike. The score's is Platt's curve, sigmoid(slope * evidence + bias), over evidence as it is weighed
for ranking. The probability weighs the sides by itself, and its curve depends on the length of the shorter document.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from longmatch.default.calibration import NEEDS_TITLES, Calibration, Scale
from longmatch.default.probability import Curve, Probability, length_position
from longmatch.lab.datasets.records import Split
from longmatch.lab.default.side_scorer import SideScorer
from longmatch.lab.default.weighing import FLOORS
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.measures import calibration_error
from longmatch.lab.evaluation.measures.answers import Floats

UNRELATED = 20  # documents drawn for each source
STRANGERS = 4  # unrelated pairs that count for each labelled one that does not belong together
BOTH_WAYS = ("words", "phrases", "meaning")  # sides that two documents have without a collection, the same both ways
LENGTHS = (500, 5000)  # words of a short and of a long document
LEAST = 1e-4  # weighs large weights against likely labels, so that pairs that no error separates have an end

Sides = dict[str, Floats]


@dataclass(frozen=True)
class PairSides:
    """A set's labelled pairs, by side, and pairs drawn at random that no label names."""

    labelled: Sides
    labels: npt.NDArray[np.bool_]
    unrelated: Sides

    @staticmethod
    def read(path: Path) -> "PairSides":
        """What `write` wrote."""
        with np.load(path) as arrays:
            names = arrays["names"].tolist()
            labelled, unrelated = (
                dict(zip(names, arrays[kind].astype(np.float64), strict=True)) for kind in ("labelled", "unrelated")
            )
            return PairSides(labelled, arrays["labels"], unrelated)

    def write(self, path: Path) -> None:
        """To be read again."""
        sides = (self.labelled, self.unrelated)
        labelled, unrelated = (np.stack(list(each.values())).astype(np.float32) for each in sides)
        names = np.array(list(self.labelled))
        np.savez_compressed(path, names=names, labels=self.labels, labelled=labelled, unrelated=unrelated)


def pair_sides(
    corpus: Corpus, scorer: SideScorer, split: Split, sources: int | None = None, seed: int = 0
) -> PairSides:
    """Of the pairs of a split, or of those of so many sources."""
    rng = random.Random(seed)
    targets: dict[int, dict[int, int]] = {}
    for pair in corpus.folder.pairs(split):
        targets.setdefault(corpus.number[pair.source], {})[corpus.number[pair.target]] = pair.label
    able = sorted(set(targets) - set(scorer.unhandled))
    asked = able if sources is None else sorted(rng.sample(able, min(sources, len(able))))
    labels: list[int] = []
    labelled: list[Sides] = []
    unrelated: list[Sides] = []
    for number, sides in scorer.each(asked):
        named = {target: label for target, label in targets[number].items() if target not in scorer.unhandled}
        labels += named.values()
        sides["query"] = np.full(len(corpus), sides["lengths"][number])
        labelled.append(_at(sides, list(named)))
        drawn = set(rng.sample(range(len(corpus)), min(UNRELATED, len(corpus))))
        unrelated.append(_at(sides, sorted(drawn - {number} - set(targets[number]) - set(scorer.unhandled))))
    return PairSides(_joined(labelled), np.array(labels, dtype=bool), _joined(unrelated))


def _at(sides: Mapping[str, Floats], numbers: Sequence[int]) -> Sides:
    return {name: values[numbers] for name, values in sides.items()}


def _joined(parts: Sequence[Sides]) -> Sides:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def calibrated(sets: Sequence[PairSides], weights: Mapping[str, Scale]) -> Calibration:
    """The chance of each side, measured on unrelated pairs, and a curve.

    The curve goes through the labelled pairs and STRANGERS times as many unrelated ones as do not belong together, so
    that what has nothing in common scores low. Titles are left out: two documents alone are compared without them.
    """
    scales = {name: replace(scale, chance=_chance(sets, name)) for name, scale in weights.items()}
    rough = Calibration(scales, slope=1.0, bias=0.0)
    known = [name for name in rough.sides if name not in NEEDS_TITLES]
    evidence, labels = [], []
    for found in sets:
        strangers = rough.evidence({name: found.unrelated[name] for name in known})
        some = np.linspace(0, len(strangers) - 1, STRANGERS * int((~found.labels).sum())).astype(np.int64)
        evidence.append(np.append(rough.evidence({name: found.labelled[name] for name in known}), strangers[some]))
        labels.append(np.append(found.labels, np.zeros(len(some), dtype=bool)))
    slope, bias = platt(evidence, labels)
    return Calibration(scales, round(slope, 4), round(bias, 4))


def _chance(sets: Sequence[PairSides], name: str) -> float:
    """The mean over the sets of what half of their unrelated pairs do not exceed."""
    return round(float(np.mean([max(0.0, float(np.median(found.unrelated[name]))) for found in sets])), 5)


def platt(evidence: Sequence[Floats], labels: Sequence[npt.NDArray[np.bool_]]) -> tuple[float, float]:
    """Slope and bias of the curve that makes the labels likeliest (Platt, 1999), every set counting alike."""
    from sklearn.linear_model import LogisticRegression

    each = alike(labels)
    model = LogisticRegression(C=1e6, max_iter=1000)
    model.fit(np.concatenate(evidence)[:, None], np.concatenate(labels), sample_weight=each * len(each))
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def alike(labels: Sequence[npt.NDArray[np.bool_]]) -> Floats:
    """What each pair weighs where every set counts alike; their sum is 1."""
    return np.concatenate([np.full(len(found), 1 / len(found)) for found in labels]) / len(labels)


def shorter(sides: Mapping[str, Floats]) -> Floats:
    """The words of each pair's shorter document."""
    return np.minimum(sides["lengths"], sides["query"])


def probability_of(
    sets: Sequence[PairSides], sides: Sequence[str] = BOTH_WAYS, lengths: tuple[float, float] = LENGTHS
) -> Probability:
    """The weights, none of them below 0, and the curves that make the labels likeliest.

    Weights are told for long documents: evidence counts once there, and less in short ones.
    """
    from scipy.optimize import minimize

    scales = {name: Scale(1.0, FLOORS[name], _chance(sets, name)) for name in sides}
    stacked = [np.stack([scale.evidence(p.labelled[name]) for name, scale in scales.items()], axis=1) for p in sets]
    evidence, labels = np.concatenate(stacked), np.concatenate([found.labels for found in sets])
    long = length_position(np.concatenate([shorter(found.labelled) for found in sets]), *lengths)
    each = alike([found.labels for found in sets])

    def unlikely(parameters: Floats) -> float:
        weights, (slope, short_bias, long_bias) = parameters[:-3], parameters[-3:]
        logits = (slope + long * (1 - slope)) * (evidence @ weights) + short_bias + long * (long_bias - short_bias)
        return float(each @ np.logaddexp(0, np.where(labels, -logits, logits)) + LEAST * weights @ weights)

    free = (None, None)
    found = minimize(
        unlikely, [*np.ones(len(scales)), 0.5, -2.0, -4.0], bounds=[(0, None)] * (len(scales) + 1) + [free] * 2
    )
    *weights, slope, short_bias, long_bias = (round(float(x), 4) for x in found.x)
    weighed = {name: replace(s, weight=weight) for (name, s), weight in zip(scales.items(), weights, strict=True)}
    return Probability(weighed, Curve(lengths[0], slope, short_bias), Curve(lengths[1], 1.0, long_bias))


def told(likely: Probability, sides: Mapping[str, Floats]) -> Floats:
    """How likely each pair belongs together, by its sides and lengths."""
    return likely.of({name: sides[name] for name in likely.scales}, shorter(sides))


def error_of_all(labels: Sequence[npt.NDArray[np.bool_]], said: Sequence[Floats]) -> float:
    """The calibration error over several sets, every one counting alike."""
    return calibration_error(np.concatenate(labels), np.concatenate(said), weights=alike(labels))
