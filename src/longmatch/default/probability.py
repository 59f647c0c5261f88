"""From the similarities of the sides to the probability that two documents belong together."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from longmatch.default.calibration import Scale, Similarities, trust_in_language
from longmatch.default.sides import Floats


@dataclass(frozen=True)
class Curve:
    """How evidence becomes a probability where the shorter document has that many words."""

    words: float
    slope: float
    bias: float


@dataclass(frozen=True)
class Probability:
    """The probability that two documents belong together, if one in two of such pairs does.

    sigmoid(slope * evidence + bias), where slope and bias are interpolated between the curve for short and the one for
    long documents by the logarithm of the shorter document's words. It is symmetric, as all its sides are; a side left
    out counts as at chance.
    """

    scales: Mapping[str, Scale]
    short: Curve
    long: Curve

    @staticmethod
    def read(path: Path) -> "Probability":
        """Read what `write` wrote."""
        content = json.loads(path.read_text(encoding="utf-8"))
        scales = {name: Scale(**scale) for name, scale in content["sides"].items()}
        return Probability(scales, Curve(**content["short"]), Curve(**content["long"]))

    def write(self, path: Path) -> None:
        """Write it as JSON."""
        sides = {name: asdict(scale) for name, scale in self.scales.items()}
        content = {"sides": sides, "short": asdict(self.short), "long": asdict(self.long)}
        path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")

    def of(self, similarities: Similarities, words: Floats, language: float = 1.0) -> Floats:
        """The probability of pairs, by their similarities, the words of the shorter document, and how far the language
        is known (0 to 1).
        """
        evidence = [
            trust_in_language(name, language) * scale.evidence(similarities[name])
            for name, scale in self.scales.items()
            if name in similarities
        ]
        long = length_position(words, self.short.words, self.long.words)
        slope = self.short.slope + long * (self.long.slope - self.short.slope)
        bias = self.short.bias + long * (self.long.bias - self.short.bias)
        return np.asarray(1 / (1 + np.exp(-(slope * np.sum(evidence, axis=0) + bias))))


def length_position(words: Floats, short: float, long: float) -> Floats:
    """Where a number of words lies between a short and a long length, by its logarithm: from 0 to 1."""
    return np.asarray(np.interp(np.log(np.maximum(words, 1)), np.log([short, long]), [0.0, 1.0]))
