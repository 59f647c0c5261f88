"""From the sides' raw similarities to one score that means something by itself."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Sides = Mapping[str, Floats]


@dataclass(frozen=True)
class Chance:
    """The similarity of unrelated documents: `level` at 1,000 words, `slope` more for each e times as long.

    Never below 0: unrelated sentences share nothing, and nothing shared is no evidence.
    """

    level: float
    slope: float

    def __call__(self, words: Floats) -> Floats:
        """At so many words (the geometric mean of the two documents)."""
        return np.maximum(self.level + self.slope * np.log(np.maximum(words, 1.0) / 1000), 0.0)


@dataclass(frozen=True)
class Calibration:
    """Weighs the sides of a comparison against each other and maps their sum to 0..1.

    Each side's similarity x is measured from what unrelated documents of that length have, in units of how much those
    differ: evidence = sum of (x - chance) / spread. The score rises steadily from near 0 for no evidence, through
    one half at `half`, to 1 for the evidence a document has for itself.
    """

    chance: Mapping[str, Chance]
    spread: Mapping[str, float]
    half: float

    def trusting(self, share: float) -> "Calibration":
        """For a language known to that share: meaning counts that much, and so does how chance grows with length."""
        chance = {name: replace(line, slope=line.slope * share) for name, line in self.chance.items()}
        spread = {**self.spread, "meaning": self.spread["meaning"] / max(share, 1e-6)}
        return replace(self, chance=chance, spread=spread)

    def evidence(self, sides: Sides, words: Floats) -> Floats:
        """The evidence that the documents belong together, summed over the sides."""
        return np.asarray(np.sum([self.part(name, x, words) for name, x in sides.items()], axis=0))

    def part(self, name: str, similarity: Floats, words: Floats) -> Floats:
        """The evidence one side gives."""
        return (similarity - self.chance[name](words)) / self.spread[name]

    def score(self, sides: Sides, words: Floats) -> Floats:
        """The score of documents whose sides are so similar."""
        most = self.evidence(dict.fromkeys(self.chance, np.ones(1)), words)
        return np.asarray(np.minimum(self._rise(self.evidence(sides, words)) / self._rise(most), 1.0))

    def _rise(self, evidence: Floats) -> Floats:
        """(x / (x + h))^2 of the positive part x of the evidence: slow at first, then steep, then slow again."""
        x = np.logaddexp(0, evidence)  # smooth, so that no two scores tie at 0
        return np.asarray((x / (x + self.half * (np.sqrt(2) - 1))) ** 2)


def mean_length(a: Floats, b: Floats) -> Floats:
    """The geometric mean of two documents' words."""
    return np.sqrt(np.asarray(a, dtype=np.float64) * np.asarray(b, dtype=np.float64))
