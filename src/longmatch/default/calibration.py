"""From the similarities of the sides to a score that puts documents in order, and to the probability of a pair."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from longmatch.default.sides import LENGTH, named
from longmatch.default.unrelated import STAND_IN, USUAL_WORDS, Similarities, Unrelated
from longmatch.lexical.terms import KINDS
from longmatch.ragged import Floats

COPY_MARGIN = 1e-6  # by which a copy's score stays below 1
COPY = 0.9999  # the similarity of the phrases of two documents from which all of them are the same
CERTAIN = 0.999  # the least probability of a copy, whatever the collection shares
SHARE = 0.1  # of the pairs that are compared, those that belong together


def log_above_floor(similarity: Floats, floor: float) -> Floats:
    """ln(x + floor): sides multiply, and what lies below the floor counts little; from -0.9 floor down all is alike."""
    return np.asarray(np.log(np.maximum(similarity + floor, floor / 10)))


@dataclass(frozen=True)
class Scale:
    """How one side counts. `chance` is the similarity of unrelated documents: evidence is counted from there."""

    weight: float
    floor: float
    chance: float

    def evidence(self, similarity: Floats, least: float | None = None) -> Floats:
        """weight ln((x + floor) / (chance + floor)): 0 for unrelated documents and for NaN, negative for less.

        With `least` it is counted from another similarity than chance.
        """
        above = log_above_floor(similarity, self.floor) - np.log((self.chance if least is None else least) + self.floor)
        return np.asarray(np.nan_to_num(self.weight * above, nan=0.0))

    def share(self, similarity: Floats) -> Floats:
        """The share of the evidence that a text has for itself: from 0 for unrelated texts to 1."""
        return np.clip(self.evidence(similarity) / self.evidence(np.ones(1)), 0, 1)


LENGTH_SCALE = Scale(1.0, LENGTH.floor, 1.0)  # a candidate of usual length: neither for nor against


@dataclass(frozen=True)
class Calibration:
    """Weighs the sides of a comparison and turns their sum into a score from 0 to 1.

    The score is sigmoid(slope * evidence + bias), relative to that of a document with itself, which is near 1. It puts
    documents in order; how likely two of them belong together is for `Probability` to say.
    """

    scales: Mapping[str, Scale]
    slope: float
    bias: float

    @staticmethod
    def read(path: Path) -> "Calibration":
        """Read what `write` wrote."""
        content = json.loads(path.read_text(encoding="utf-8"))
        scales = {name: Scale(**scale) for name, scale in content["sides"].items()}
        return Calibration(scales, content["slope"], content["bias"])

    def write(self, path: Path) -> None:
        """Write it as JSON."""
        sides = {name: asdict(scale) for name, scale in self.scales.items()}
        content = {"sides": sides, "slope": self.slope, "bias": self.bias}
        path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")

    @property
    def sides(self) -> tuple[str, ...]:
        """The sides that count; the others need not be computed."""
        return tuple(name for name, scale in self.scales.items() if scale.weight)

    def against(self, unrelated: Unrelated) -> "Calibration":
        """The calibration for documents that share so much when they are unrelated: evidence is counted from there."""
        scales = {
            name: replace(scale, chance=unrelated.chance(name)) if name in unrelated.levels else scale
            for name, scale in self.scales.items()
        }
        return replace(self, scales=scales)

    def trusting(self, language: float, titles: float = 1.0, vocabulary: float | None = None) -> "Calibration":
        """The calibration for a language known to that degree, and titles as descriptive as that, both from 0 to 1.

        `vocabulary` says how far the background text has the documents' words, by default as far as the language is
        known. Where it has not, words weigh as much as phrases, since nobody knows which phrases are common, and both
        are corrected for the document's length where a query is short.
        """
        foreign = 1 - (language if vocabulary is None else vocabulary)
        weights = {name: scale.weight for name, scale in self.scales.items()}
        for name in weights.keys() & named(lambda side: side.needs_language):
            weights[name] *= language
        for name in weights.keys() & named(lambda side: side.needs_titles):
            weights[name] *= titles
        if {"words", "phrases"} <= set(weights):
            weights["words"] += foreign * max(0.0, weights["phrases"] - weights["words"])
            weights[LENGTH.name] = foreign * (weights["words"] + weights["phrases"])
        scales = {LENGTH.name: LENGTH_SCALE, **self.scales}
        return replace(self, scales={name: replace(scales[name], weight=weight) for name, weight in weights.items()})

    def evidence(self, similarities: Similarities) -> Floats:
        """The evidence that documents belong together, summed over the sides given.

        Words and phrases of different languages (NaN) count as large a share of their evidence as meaning has of its
        own: so a relative in another language is not placed behind a stranger in the query's, who shares some words.
        """
        total = np.zeros(1)
        for name, values in similarities.items():
            found, unknown = self.scales[name].evidence(values), np.isnan(values)
            if name in KINDS and STAND_IN in similarities and unknown.any():
                instead = self.scales[STAND_IN].share(similarities[STAND_IN])
                found = np.where(unknown, instead * self.scales[name].evidence(np.ones(1)), found)
            total = total + found
        return total

    def score(self, similarities: Similarities) -> Floats:
        """The score of documents with these similarities; a side left out counts as at chance.

        It rises strictly with the evidence: relatives that titles or references lift above a copy share what
        COPY_MARGIN leaves below 1.
        """
        evidence = self.evidence(similarities)
        whole = similarities.keys() - named(lambda side: not side.full_for_copies)
        copy = self.evidence({name: np.ones(1) for name in similarities if name in whole})
        share_of_copy = _sigmoid(self.slope * evidence + self.bias) / _sigmoid(self.slope * copy + self.bias)
        above = 1 - COPY_MARGIN * np.exp(np.minimum(copy - evidence, 0))
        return np.where(evidence > copy, above, (1 - COPY_MARGIN) * share_of_copy)

    def likeness(self, similarities: Similarities) -> Floats:
        """The share of a text's evidence for itself that two texts have: 0 as by chance, 1 for copies.

        Words and meaning count equally, whatever they weigh in the score. The score is near 1 for all that belongs
        together, so it cannot tell copies from relatives, nor compare parts of documents; likeness can. A lack of
        similarity is no evidence against, as short texts share few words anyway. Titles and references do not count: a
        copy has no more of them than a relative may have; nor do phrases, of which the few rare ones added to a copy
        outweigh all it shares with many others.
        """
        counted = named(lambda side: side.in_likeness)
        known = {name: x for name, x in similarities.items() if name in counted}
        shares = [np.where(np.isnan(x), np.nan, self.scales[name].share(x)) for name, x in known.items()]
        return np.asarray(np.nanmean(shares, axis=0))

    def shares(self, similarities: Similarities) -> dict[str, Floats]:
        """Each side's share of a pair's evidence above chance; where no side has any, of its evidence above nothing.

        Length is nothing that two documents have in common, and has no share.
        """
        sides = {name: x for name, x in similarities.items() if name != LENGTH.name}
        above = {name: np.maximum(self.scales[name].evidence(x), 0.0) for name, x in sides.items()}
        unremarkable = ~np.any([x > 0 for x in above.values()], axis=0)
        if unremarkable.any():
            nothing = {name: np.maximum(self.scales[name].evidence(x, least=0.0), 0.0) for name, x in sides.items()}
            above = {name: np.where(unremarkable, nothing[name], x) for name, x in above.items()}
        total = np.sum(list(above.values()), axis=0)
        return {name: x / np.where(total > 0, total, 1.0) for name, x in above.items()}


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
        shorter, longer = np.minimum(*words), np.maximum(*words)
        length = np.log(np.sqrt(np.maximum(words[0], 1.0) * np.maximum(words[1], 1.0)) / USUAL_WORDS)
        language, titles = trust

        def likelihood(levels: Unrelated) -> Floats:
            surprise = levels.surprise(similarities, shorter, longer)
            plain, titled = (_evidence(curve, surprise, length, language) for curve in (self.plain, self.titled))
            return _sigmoid((1 - titles) * plain + titles * titled)

        likely = likelihood(unrelated)
        if unrelated.doubt:
            doubtful = likelihood(replace(unrelated, levels=unrelated.doubtful))
            likely = (1 - unrelated.doubt) * likely + unrelated.doubt * np.minimum(likely, doubtful)
        shared = np.nan_to_num(similarities.get("phrases", np.zeros(1)))
        if unrelated.ignorance:
            unsure = unrelated.ignorance * (1 - shared)  # but a copy is one anywhere
            likely = (1 - unsure) * likely + unsure * SHARE
        return np.where(shared >= COPY, np.maximum(likely, CERTAIN), likely)


def _evidence(curve: Curve, surprise: Similarities, length: Floats, language: float) -> Floats:
    """The evidence in a language known to that degree: where meaning cannot tell, words count for it."""
    read = named(lambda side: side.needs_language)
    weights = {name: weight * (language if name in read else 1.0) for name, weight in curve.weights.items()}
    weights["words"] = weights.get("words", 0.0) + sum(curve.weights.values()) - sum(weights.values())
    weighed = sum(weight * surprise[name] for name, weight in weights.items() if name in surprise)
    return np.asarray(curve.bias + curve.length * length + weighed)


def _sigmoid(evidence: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-evidence)))
