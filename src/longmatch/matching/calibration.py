"""From the sides' raw similarities to one score that means something by itself."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Sides = dict[str, Floats]


@dataclass(frozen=True)
class Calibration:
    """Weighs the sides of a comparison against each other and maps their sum to 0..1.

    Each side's similarity x is measured from what unrelated documents have, in units of how much those differ:
    evidence = sum of (x - chance) / spread. The score rises from 0 for evidence of 0 (unrelated documents), through
    one half at `half`, to 1 for the evidence a document has for itself.
    """

    chance: dict[str, float]
    spread: dict[str, float]
    half: float

    def evidence(self, sides: Sides) -> Floats:
        """The evidence that the documents belong together, summed over the sides."""
        return sum((self.part(name, x) for name, x in sides.items()), start=np.zeros(1))

    def part(self, name: str, similarity: Floats) -> Floats:
        """The evidence one side gives."""
        return (np.asarray(similarity, dtype=np.float64) - self.chance[name]) / self.spread[name]

    def score(self, evidence: Floats) -> Floats:
        """The score of so much evidence."""
        most = sum((1 - self.chance[name]) / self.spread[name] for name in self.chance)
        x = np.clip(evidence, 0.0, most)
        return x / (x + self.half) * (most + self.half) / most
