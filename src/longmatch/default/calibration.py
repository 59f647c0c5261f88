"""From the sides' raw similarities to one score that means something by itself."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Sides = Mapping[str, Floats]

UNDERSTOOD = ("meaning", "topic", "told")  # the sides that a backbone reads, and so only in languages it knows
TITLED = ("title", "titled", "told")  # the sides that go by what titles say
ALIKE = ("words", "meaning")  # the sides that tell copies from relatives, and parts of documents apart
HAIR = 1e-6  # by which a copy's score stays below 1
BESIDE = (*TITLED, "named")  # the sides on which a copy has no more than a relative may have


def lifted(similarity: Floats, floor: float) -> Floats:
    """ln(x + floor) of the positive part x: sides multiply, and what lies below the floor counts little."""
    return np.asarray(np.log(np.maximum(similarity, 0) + floor))


@dataclass(frozen=True)
class Scale:
    """How one side counts. `chance` is the similarity that unrelated documents have: from there evidence is counted."""

    weight: float
    floor: float
    chance: float

    def evidence(self, similarity: Floats) -> Floats:
        """weight ln((x + floor) / (chance + floor)): 0 for unrelated documents, negative for less."""
        return self._above(self.chance, similarity)

    def share(self, similarity: Floats) -> Floats:
        """Of the evidence that a text has for itself, from 0 for what unrelated ones have to 1."""
        return np.clip(self.evidence(similarity) / self.evidence(np.ones(1)), 0, 1)

    def above_nothing(self, similarity: Floats) -> Floats:
        """The same, counted from no similarity at all."""
        return self._above(0.0, similarity)

    def _above(self, least: float, similarity: Floats) -> Floats:
        return np.asarray(self.weight * (lifted(similarity, self.floor) - np.log(least + self.floor)))


LENGTH = Scale(1.0, 0.01, 1.0)  # of a usual document: neither for nor against


@dataclass(frozen=True)
class Calibration:
    """Weighs the sides of a comparison against each other and makes their sum a score from 0 to 1.

    The score is sigmoid(slope * evidence + bias), in units of what a document has with itself, which is near 1. It puts
    documents in order; how likely two of them belong together is told by `Probability`.
    """

    scales: Mapping[str, Scale]
    slope: float
    bias: float

    @staticmethod
    def read(path: Path) -> "Calibration":
        """What `write` wrote."""
        facts = json.loads(path.read_text(encoding="utf-8"))
        return Calibration({name: Scale(**s) for name, s in facts["sides"].items()}, facts["slope"], facts["bias"])

    def write(self, path: Path) -> None:
        """As JSON."""
        facts = {"sides": {name: asdict(s) for name, s in self.scales.items()}, "slope": self.slope, "bias": self.bias}
        path.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")

    @property
    def sides(self) -> tuple[str, ...]:
        """The sides that count; the others need not be known."""
        return tuple(name for name, scale in self.scales.items() if scale.weight)

    def trusting(self, language: float, titles: float = 1.0) -> "Calibration":
        """For a language known to that share, and titles that say that much: for and against, they count no more.

        Where the language is not known, words weigh as much as phrases, since meaning cannot help them, and both are
        corrected for the document's length where a query is short.
        """
        known = {name: language if name in UNDERSTOOD else 1.0 for name in self.scales}
        said = {name: titles if name in TITLED else 1.0 for name in self.scales}
        weights = {name: s.weight * known[name] * said[name] for name, s in self.scales.items()}
        if {"words", "phrases"} <= set(weights):
            weights["words"] += (1 - language) * max(0.0, weights["phrases"] - weights["words"])
            weights["length"] = (1 - language) * (weights["words"] + weights["phrases"])
        scales = {"length": LENGTH, **self.scales}
        return replace(self, scales={name: replace(scales[name], weight=weight) for name, weight in weights.items()})

    def evidence(self, sides: Sides) -> Floats:
        """The evidence that documents belong together, summed over the sides given."""
        return np.asarray(np.sum([self.scales[name].evidence(x) for name, x in sides.items()], axis=0))

    def score(self, sides: Sides) -> Floats:
        """The score of documents whose sides are so similar; a side left out counts as at chance.

        It rises strictly with the evidence: relatives that titles or names lift above a copy share the last HAIR.
        """
        found = self.evidence(sides)
        copy = self.evidence({name: np.ones(1) for name in sides if name not in BESIDE})
        below = (1 - HAIR) * self._probability(found) / self._probability(copy)
        return np.asarray(np.where(found > copy, 1 - HAIR * np.exp(np.minimum(copy - found, 0)), below))

    def _probability(self, evidence: Floats) -> Floats:
        return np.asarray(1 / (1 + np.exp(-(self.slope * evidence + self.bias))))

    def likeness(self, sides: Sides) -> Floats:
        """How much of the evidence that a text has for itself two texts have: from 0, as by chance, to 1 for copies.

        By words and by meaning, one as much as the other, whatever they weigh in the score.

        For what the score, which is near 1 for all that belongs together, was not made for: to tell copies from
        relatives, and for parts of documents. Nothing is held against them, as short texts share few words anyway.
        Titles and names do not count: a copy has no more of them than a relative may have; nor do phrases, of which
        the few rare ones that are added to a copy weigh more than all it shares with many others.
        """
        shares = [self.scales[name].share(x) for name, x in sides.items() if name in ALIKE]
        return np.asarray(np.mean(shares, axis=0))

    def shares(self, sides: Sides) -> dict[str, float]:
        """Of one pair, each side's share of the evidence above chance; where no side has any, of what there is.

        Length is nothing that two documents have in common, and has no share.
        """
        sides = {name: x for name, x in sides.items() if name != "length"}
        above = {name: max(0.0, float(self.scales[name].evidence(x)[0])) for name, x in sides.items()}
        if not any(above.values()):
            above = {name: max(0.0, float(self.scales[name].above_nothing(x)[0])) for name, x in sides.items()}
        total = sum(above.values()) or 1.0
        return {name: x / total for name, x in above.items()}
