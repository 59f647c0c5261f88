"""How the default's score becomes a probability: labelled and unrelated pairs by their sides, and a curve through them.

Platt's curve, sigmoid(slope * evidence + bias), has two parameters; every set counts alike.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from longmatch.datasets.records import Split
from longmatch.evaluation.corpus import Corpus
from longmatch.evaluation.measures.answers import Floats
from longmatch.evaluation.scoring.sides import SideScorer
from longmatch.matching.calibration import Calibration, Scale

UNRELATED = 20  # documents drawn for each source

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
    """The chance of each side, measured on unrelated pairs, and the curve through the labelled ones."""
    scales = {name: replace(scale, chance=_chance(sets, name)) for name, scale in weights.items()}
    rough = Calibration(scales, slope=1.0, bias=0.0)
    evidence = [rough.evidence({name: found.labelled[name] for name in rough.sides}) for found in sets]
    slope, bias = platt(evidence, [found.labels for found in sets])
    return Calibration(scales, round(slope, 4), round(bias, 4))


def _chance(sets: Sequence[PairSides], name: str) -> float:
    """The mean over the sets of what half of their unrelated pairs do not exceed."""
    return round(float(np.mean([max(0.0, float(np.median(found.unrelated[name]))) for found in sets])), 5)


def platt(evidence: Sequence[Floats], labels: Sequence[npt.NDArray[np.bool_]]) -> tuple[float, float]:
    """Slope and bias of the curve that makes the labels likeliest (Platt, 1999), every set counting alike."""
    from sklearn.linear_model import LogisticRegression

    each = np.concatenate([np.full(len(found), 1 / len(found)) for found in labels])
    model = LogisticRegression(C=1e6, max_iter=1000)
    model.fit(np.concatenate(evidence)[:, None], np.concatenate(labels), sample_weight=each * len(each) / len(labels))
    return float(model.coef_[0, 0]), float(model.intercept_[0])
