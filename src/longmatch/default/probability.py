"""From the similarities of the sides to the probability that two documents belong together."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from longmatch.default.calibration import NEEDS_TITLES, trust_in_language
from longmatch.default.sides import Floats
from longmatch.default.unrelated import Similarities, Unrelated

SHARE = 0.1  # of the pairs that are compared, those that belong together


@dataclass(frozen=True)
class Probability:
    """The probability that two documents belong together, if one in ten of the pairs that are compared does.

    sigmoid(bias + sum of weight * surprise), where the surprise of a side is how far its similarity exceeds that of
    unrelated documents of the same collection and of these lengths, in units of their spread. It is the same both ways;
    a side left out counts as at chance.
    """

    weights: Mapping[str, float]
    bias: float

    @staticmethod
    def read(path: Path) -> "Probability":
        """Read what `write` wrote."""
        return Probability(**json.loads(path.read_text(encoding="utf-8")))

    def write(self, path: Path) -> None:
        """Write it as JSON."""
        path.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")

    def of(
        self,
        similarities: Similarities,
        words: tuple[Floats, Floats],
        unrelated: Unrelated,
        trust: tuple[float, float] = (1.0, 0.0),
    ) -> Floats:
        """The probability of pairs, by their similarities and the words of both documents.

        `trust` says how far the language is known and titles describe their documents, each from 0 to 1.
        """
        known = self._curve(similarities, words, unrelated, trust)
        if not unrelated.doubt:
            return known
        doubtful = self._curve(similarities, words, unrelated.if_doubtful, trust)
        return (1 - unrelated.doubt) * known + unrelated.doubt * np.minimum(known, doubtful)

    def _curve(
        self, similarities: Similarities, words: tuple[Floats, Floats], unrelated: Unrelated, trust: tuple[float, float]
    ) -> Floats:
        lengths = np.minimum(*words), np.maximum(*words)
        surprise = unrelated.surprise({name: similarities[name] for name in self.sides(similarities)}, *lengths)
        language, titles = trust
        evidence = [
            self.weights[name] * trust_in_language(name, language) * (titles if name in NEEDS_TITLES else 1.0) * value
            for name, value in surprise.items()
        ]
        return np.asarray(1 / (1 + np.exp(-(self.bias + np.sum(evidence, axis=0)))))

    def sides(self, available: Mapping[str, object]) -> tuple[str, ...]:
        """The sides that count, of those available."""
        return tuple(name for name, weight in self.weights.items() if weight and name in available)
