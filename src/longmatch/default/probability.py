"""From the sides' raw similarities to the chance that two documents belong together."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from longmatch.default.calibration import UNDERSTOOD, Floats, Scale, Sides


@dataclass(frozen=True)
class Curve:
    """How evidence becomes a probability where the shorter document has so many words."""

    words: float
    slope: float
    bias: float


@dataclass(frozen=True)
class Probability:
    """That two documents belong together, if one in two of such pairs does.

    sigmoid(slope * evidence + bias), where slope and bias go with the logarithm of the shorter document's words from
    those of the short to those of the long curve. The same both ways, as all its sides are; a side left out counts as
    at chance.
    """

    scales: Mapping[str, Scale]
    short: Curve
    long: Curve

    @staticmethod
    def read(path: Path) -> "Probability":
        """What `write` wrote."""
        facts = json.loads(path.read_text(encoding="utf-8"))
        scales = {name: Scale(**scale) for name, scale in facts["sides"].items()}
        return Probability(scales, Curve(**facts["short"]), Curve(**facts["long"]))

    def write(self, path: Path) -> None:
        """As JSON."""
        sides = {name: asdict(scale) for name, scale in self.scales.items()}
        facts = {"sides": sides, "short": asdict(self.short), "long": asdict(self.long)}
        path.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")

    def of(self, sides: Sides, words: Floats, language: float = 1.0) -> Floats:
        """Of pairs by their sides, the words of the shorter document, and how far their language is known."""
        trust = {name: language if name in UNDERSTOOD else 1.0 for name in sides}
        known = [trust[name] * scale.evidence(sides[name]) for name, scale in self.scales.items() if name in sides]
        long = between(words, self.short.words, self.long.words)
        slope = self.short.slope + long * (self.long.slope - self.short.slope)
        bias = self.short.bias + long * (self.long.bias - self.short.bias)
        return np.asarray(1 / (1 + np.exp(-(slope * np.sum(known, axis=0) + bias))))


def between(words: Floats, short: float, long: float) -> Floats:
    """How far from a short length to a long one, by the logarithm: from 0 to 1."""
    return np.asarray(np.interp(np.log(np.maximum(words, 1)), np.log([short, long]), [0.0, 1.0]))
