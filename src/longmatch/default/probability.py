"""From the similarities of the sides to the probability that two documents belong together."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from longmatch.default.calibration import trust_in_language
from longmatch.default.sides import Floats
from longmatch.default.unrelated import USUAL_WORDS, Similarities, Unrelated

COPY = 0.9999  # the similarity of the phrases of two documents from which all of them are the same
CERTAIN = 0.999  # the least probability of a copy, whatever the collection shares
SHARE = 0.1  # of the pairs that are compared, those that belong together


@dataclass(frozen=True)
class Curve:
    """What each side's surprise weighs, and what documents of more words than usual add: ln of their mean length."""

    weights: Mapping[str, float]
    length: float
    bias: float


@dataclass(frozen=True)
class Probability:
    """The probability that two documents belong together, if SHARE of the pairs that are compared do.

    sigmoid(bias + sum of weight * surprise), where the surprise of a side is how far its similarity exceeds that of
    unrelated documents of the same collection and of these lengths, in units of their spread. Where titles describe
    their documents they count too, with a curve of their own. It is the same both ways; a side left out counts as at
    chance.
    """

    plain: Curve
    titled: Curve

    @staticmethod
    def read(path: Path) -> "Probability":
        """Read what `write` wrote."""
        content = json.loads(path.read_text(encoding="utf-8"))
        return Probability(Curve(**content["plain"]), Curve(**content["titled"]))

    def write(self, path: Path) -> None:
        """Write it as JSON."""
        path.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")

    @property
    def sides(self) -> tuple[str, ...]:
        """The sides that count."""
        return tuple(dict.fromkeys([*self.plain.weights, *self.titled.weights]))

    def of(
        self,
        similarities: Similarities,
        words: tuple[Floats, Floats],
        unrelated: Unrelated,
        trust: tuple[float, float] = (1.0, 0.0),
    ) -> Floats:
        """The probability of pairs, by their similarities and the words of both documents.

        `trust` says how far the language is known and titles describe their documents, each from 0 to 1. Where nobody
        knows what is common in the language, it stays near SHARE, unless the documents have most phrases in common.
        """
        likely = _sigmoid(self._evidence(similarities, words, unrelated, trust))
        if unrelated.doubt:
            doubtful = _sigmoid(self._evidence(similarities, words, unrelated.if_doubtful, trust))
            likely = (1 - unrelated.doubt) * likely + unrelated.doubt * np.minimum(likely, doubtful)
        shared = np.nan_to_num(similarities.get("phrases", np.zeros(1)))
        if unrelated.ignorance:
            unsure = unrelated.ignorance * (1 - shared)  # but a copy is one anywhere
            likely = (1 - unsure) * likely + unsure * SHARE
        return np.where(shared >= COPY, np.maximum(likely, CERTAIN), likely)

    def _evidence(
        self, similarities: Similarities, words: tuple[Floats, Floats], unrelated: Unrelated, trust: tuple[float, float]
    ) -> Floats:
        surprise = unrelated.surprise(similarities, np.minimum(*words), np.maximum(*words))
        length = np.log(np.sqrt(np.maximum(words[0], 1.0) * np.maximum(words[1], 1.0)) / USUAL_WORDS)
        language, titles = trust
        plain, titled = (
            curve.bias
            + curve.length * length
            + sum(weight * surprise[name] for name, weight in _weights(curve, language).items() if name in surprise)
            for curve in (self.plain, self.titled)
        )
        return np.asarray((1 - titles) * plain + titles * titled)


def _weights(curve: Curve, language: float) -> dict[str, float]:
    """The weights in a language known to that degree: where meaning cannot tell, words count for it."""
    weights = {name: weight * trust_in_language(name, language) for name, weight in curve.weights.items()}
    lost = sum(curve.weights.values()) - sum(weights.values())
    return {**weights, "words": weights.get("words", 0.0) + lost}


def _sigmoid(evidence: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-evidence)))
