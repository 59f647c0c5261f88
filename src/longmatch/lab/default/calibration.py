"""How the default's evidence becomes a score and a probability: curves through labelled and random pairs.

Every set counts alike, and every similarity is counted from what unrelated documents of its own set share. The score's
curve is Platt's, sigmoid(slope * evidence + bias), over evidence weighed as for ranking. The probability has its own
weights, and is fitted as if SHARE of all pairs belonged together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from longmatch.default.calibration import SHARE, Calibration, Curve, Probability, Scale
from longmatch.default.sides import named
from longmatch.default.statistics import CALIBRATION, PROBABILITY, UNRELATED
from longmatch.default.unrelated import (
    BOTH_WAYS,
    LEAST_SPREAD,
    SAMPLED_SIDES,
    USUAL_WORDS,
    Known,
    Level,
    Prior,
    Sample,
    Unrelated,
    on_scale,
)
from longmatch.errors import LongmatchError
from longmatch.lab.default.features import PASSAGE_SIDES, PairSides, SideValues, read_pairs
from longmatch.lab.default.weights import read_weights
from longmatch.lab.evaluation.measures import Floats, calibration_error

LIKELY_SIDES = (*PASSAGE_SIDES, "named")  # of the probability; the same both ways
BETWEEN = 0.25  # share of the variance between sets that counts as spread
STEEPNESS = 2.0  # of what lengths do to unrelated documents
DECAY = 1e-3  # of the weights, so that pairs that are separated without error do not make them grow for ever
NAMED_LEVEL = Level(round(float(np.log(0.03)), 4), 1.0)  # two unrelated documents mention nothing in common

Labels = npt.NDArray[np.bool_]
Slopes = Mapping[str, tuple[float, float]]


def write_calibration(folder: Path) -> None:
    """Fit levels, score and probability to the training pairs, and write them as the package holds them."""
    pairs = list(read_pairs(folder, "train").values())
    if not pairs:
        raise LongmatchError(f"{folder} holds no training pairs. Run --step features with sets that have pairs.")
    prior = fit_prior(pairs)
    prior.write(folder / UNRELATED)
    fit_score(pairs, read_weights(folder), prior).write(folder / CALIBRATION)
    fit_probability(pairs, prior).write(folder / PROBABILITY)


def fit_prior(sets: Sequence[PairSides]) -> Prior:
    """What unrelated documents share without a collection that tells, and how that moves with their lengths."""
    slopes = {side: _slopes(sets, side) for side in PASSAGE_SIDES}
    inside = [_sample(pairs.unrelated).levels(slopes) for pairs in sets]
    titles = {side: _over_sets([levels[side] for levels in inside]) for side in BOTH_WAYS}

    known, without = ([pairs.lone[f"{kind} random"] for pairs in sets] for kind in ("known", "unknown"))
    is_known, lacks = ([float(sides["knowledge"].mean()) > 0.5 for sides in lone] for lone in (known, without))
    lacking = [sides for sides, was, still in zip(without, is_known, lacks, strict=True) if was and not still]

    def levels(chosen: Sequence[SideValues]) -> dict[str, Level]:
        each = [_sample(sides).levels(slopes) for sides in chosen]
        passages = {side: _over_sets([level[side] for level in each]) for side in PASSAGE_SIDES}
        return {**passages, **titles, "named": NAMED_LEVEL}

    of_a_kind = [sides for sides, yes in zip(known, is_known, strict=True) if yes]
    prose = [sides for sides, yes in zip(known, is_known, strict=True) if not yes]
    return Prior(levels(of_a_kind or known), levels(prose or known), levels(lacking or without), slopes)


def _slopes(sets: Sequence[PairSides], side: str) -> tuple[float, float]:
    """How a side moves with the logarithms of both lengths, within each set: least squares, every set counting alike.

    STEEPNESS was chosen on training pairs of sets left out: 1 leaves short pairs too likely.
    """
    rows, values, weights = [], [], []
    for pairs in sets:
        sample = _sample(pairs.unrelated)
        words = np.stack([sample.shorter, sample.longer], axis=1)
        logs = np.log(np.maximum(words, 1) / USUAL_WORDS)
        value = on_scale(side, sample.similarities[side])
        rows.append(logs - logs.mean(0))
        values.append(value - np.median(value))
        spread = Level.of(value, LEAST_SPREAD[side]).spread
        weights.append(np.full(len(value), len(value) ** -0.5 / spread))
    scale = np.concatenate(weights)
    x, y = np.concatenate(rows) * scale[:, None], np.concatenate(values) * scale
    shorter, longer = (STEEPNESS * np.linalg.lstsq(x, y, rcond=None)[0]).tolist()
    return round(shorter, 4), round(longer, 4)


def _over_sets(levels: Sequence[Level]) -> Level:
    """The level of a set that nobody has seen: the mean of all, with their spread and some of that between them."""
    means = [level.mean for level in levels]
    spread = np.sqrt(np.mean([level.spread**2 for level in levels]) + BETWEEN * np.var(means))
    return Level(round(float(np.mean(means)), 4), round(float(spread), 4))


def _sample(sides: SideValues) -> Sample:
    """Pairs as a sample of random ones, from a collection so large that it needs no prior."""
    values = {name: x for name, x in sides.items() if name in SAMPLED_SIDES}
    return Sample(values, *lengths(sides), documents=10**6)


def unrelated_of(pairs: PairSides, prior: Prior) -> Unrelated:
    """What unrelated documents of a set share."""
    return prior.unrelated(Known(), _sample(pairs.unrelated))


def fit_score(sets: Sequence[PairSides], weights: Mapping[str, Scale], prior: Prior) -> Calibration:
    """Fit the score's curve to related and random pairs, as if SHARE of them were related.

    Titles are left out: two documents alone are compared without them.
    """
    usual = Unrelated(prior.known, {})
    chances = {name: round(usual.chance(name), 5) if name in prior.known else 0.0 for name in weights}
    known = {name: replace(scale, chance=chances[name]) for name, scale in weights.items()}
    uncalibrated = Calibration(known, slope=1.0, bias=0.0)
    titled = named(lambda side: side.needs_titles)
    sides = [name for name in uncalibrated.sides if name not in titled]
    evidence = []
    for pairs in sets:
        here = uncalibrated.against(unrelated_of(pairs, prior))
        values = mixed(pairs)
        evidence.append(here.evidence({name: values[name] for name in sides}))
    labels = [mixed_labels(pairs) for pairs in sets]
    slope, bias = fit_platt(evidence, labels, [pair_weights(each) for each in labels])
    return Calibration(known, round(slope, 4), round(bias, 4))


def mixed(pairs: PairSides) -> SideValues:
    """The related pairs of a set, and its random ones."""
    return {name: np.append(x[pairs.labels], pairs.unrelated[name]) for name, x in pairs.labelled.items()}


def mixed_labels(pairs: PairSides) -> Labels:
    """Which of them are related."""
    return np.arange(int(pairs.labels.sum()) + len(pairs.unrelated["words"])) < int(pairs.labels.sum())


def pair_weights(labels: Labels, share: float = SHARE) -> Floats:
    """The weight of each pair where `share` of them are related; they sum to 1.

    >>> pair_weights(np.array([True, False, False])).tolist()
    [0.1, 0.45, 0.45]
    """
    related = labels.sum()
    return np.asarray(np.where(labels, share / related, (1 - share) / (len(labels) - related)))


def fit_platt(evidence: Sequence[Floats], labels: Sequence[Labels], weights: Sequence[Floats]) -> tuple[float, float]:
    """Slope and bias of the curve that makes the labels likeliest (Platt, 1999), every set counting alike."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1e6, max_iter=1000)
    scaled = np.concatenate(weights)
    model.fit(np.concatenate(evidence)[:, None], np.concatenate(labels), sample_weight=scaled * len(scaled))
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def fit_probability(sets: Sequence[PairSides], prior: Prior) -> Probability:
    """The curves that make the labels likeliest at SHARE: of all sets, and of those whose titles describe texts."""
    titled = [pairs for pairs in sets if pairs.trust[1] > 0.5]
    plain = _fit_curve(sets, prior, LIKELY_SIDES)
    return Probability(plain, _fit_curve(titled, prior, (*LIKELY_SIDES, "title")) if titled else plain)


def _fit_curve(sets: Sequence[PairSides], prior: Prior, sides: Sequence[str]) -> Curve:
    """Weights of the sides, none of them below 0, of the length, and the bias."""
    from scipy.optimize import minimize

    labels = [mixed_labels(pairs) for pairs in sets]
    weighed = np.concatenate([pair_weights(each) for each in labels]) / len(sets)
    stacked, targets = np.concatenate([_surprises(pairs, prior, sides) for pairs in sets]), np.concatenate(labels)

    def loss(parameters: Floats) -> float:
        weights, bias = parameters[:-1], parameters[-1]
        logits = stacked @ weights + bias
        return float(weighed @ np.logaddexp(0, np.where(targets, -logits, logits)) + DECAY * weights @ weights)

    start = [*np.full(len(sides) + 1, 0.5), -4.0]
    result = minimize(loss, start, bounds=[(0, None)] * len(sides) + [(None, None)] * 2)
    *weights, length, bias = (round(float(x), 4) for x in result.x)
    found = dict(zip(sides, weights, strict=True))
    if "title" in found:
        found |= dict.fromkeys(BOTH_WAYS, round(found["title"] / 2, 4))
    return Curve(found, length, bias)


def _surprises(pairs: PairSides, prior: Prior, sides: Sequence[str]) -> Floats:
    """The surprise of each side and the length: (pairs, sides + 1); both titles are one side."""
    values = mixed(pairs)
    shorter, longer = lengths(values)
    surprise = unrelated_of(pairs, prior).surprise(values, shorter, longer)
    surprise["title"] = (surprise["title"] + surprise["query_title"]) / 2
    length = np.log(np.sqrt(shorter * longer) / USUAL_WORDS)
    return np.stack([*(surprise[side] for side in sides), length], axis=1)


def probabilities(probability: Probability, prior: Prior, pairs: PairSides, sides: Mapping[str, Floats]) -> Floats:
    """How likely pairs of a set belong together, by their sides and lengths."""
    values = {name: sides[name] for name in probability.sides}
    return probability.of(values, (sides["query"], sides["lengths"]), unrelated_of(pairs, prior), pairs.trust)


def lone_probabilities(probability: Probability, prior: Prior, sides: Mapping[str, Floats]) -> tuple[Floats, Floats]:
    """How likely pairs belong together that are compared by themselves, and by how much it may be less."""
    rows = [(np.zeros(0), np.zeros(0))]
    for i, (knowledge, known) in enumerate(zip(sides["knowledge"], sides["kind_known"], strict=True)):
        values = {name: sides[name][i : i + 1] for name in PASSAGE_SIDES}
        words = sides["query"][i : i + 1], sides["lengths"][i : i + 1]
        unrelated = prior.unrelated(Known(float(knowledge), kind=float(known)))
        likely, surely = (probability.of(values, words, each) for each in (unrelated, replace(unrelated, doubt=0.0)))
        rows.append((likely, surely - likely))
    likely, doubt = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    return likely, doubt


def lengths(sides: Mapping[str, Floats]) -> tuple[Floats, Floats]:
    """The numbers of words of each pair's shorter and longer document."""
    return np.minimum(sides["lengths"], sides["query"]), np.maximum(sides["lengths"], sides["query"])


def belief(probability: Probability, prior: Prior, pairs: PairSides) -> dict[str, float]:
    """How believable the probability is on a set: of related and random pairs, at SHARE."""
    related = probabilities(probability, prior, pairs, {n: x[pairs.labels] for n, x in pairs.labelled.items()})
    random = probabilities(probability, prior, pairs, pairs.unrelated)
    return believability(related, random)


def believability(related: Floats, random: Floats) -> dict[str, float]:
    """How believable the probabilities of related and of random pairs are, where SHARE of the pairs are related."""
    labels, predicted = np.arange(len(related) + len(random)) < len(related), np.append(related, random)
    return {
        "related, median": float(np.median(related)),
        "random, median": float(np.median(random)),
        "random, 95 %": float(np.quantile(random, 0.95)),
        "AUC": area_under_curve(related, random),
        "calibration error": calibration_error(labels, predicted, weights=pair_weights(labels)),
    }


def area_under_curve(related: Floats, random: Floats) -> float:
    """How often a related pair is above a random one; ties count half.

    >>> area_under_curve(np.array([0.9, 0.4]), np.array([0.4, 0.1]))
    0.875
    """
    ordered = np.sort(random)
    below, up_to = (np.searchsorted(ordered, related, side) for side in ("left", "right"))
    return float((below + up_to).mean() / 2 / len(random))


def left_out(sets: Mapping[str, PairSides], name: str) -> tuple[Probability, Prior]:
    """Fitted without one of the sets."""
    others = [pairs for other, pairs in sets.items() if other != name]
    prior = fit_prior(others)
    return fit_probability(others, prior), prior
