"""What unrelated documents have in common: the chance level of every side, by the kind of documents and their lengths.

Documents of one kind are alike though they have nothing to do with each other: papers share the language of papers. So
a similarity is measured against those of random pairs of the same collection, and where there are few, or none, against
what random pairs of many kinds of text have (`Prior`).

Authors of one kind of text use the commonest words alike: judgments have more of "that", papers of "we". Seen from the
middle of their own kind, two documents that have nothing to do with each other deviate from it each in a direction of
its own; seen from another kind's, they deviate in the same one. So two documents are of a kind if both lie within its
range and do not deviate from it together (`Style`). That tells a kind apart from one that nobody has shown to
longmatch, too.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file, save_file

from longmatch.default.sides import BY_NAME
from longmatch.lexical.terms import Counts, Flags, Hashes, lookup
from longmatch.ragged import Floats, unit_rows

Similarities = Mapping[str, Floats]  # by side

USUAL_WORDS = 2_000.0  # of a document, where lengths change nothing
MOST_DOUBT = 0.4  # that documents are of a kind of their own
MOST_CHANCE = 0.3  # similarity of unrelated documents, so that a copy always exceeds it
PRIOR_DOCUMENTS = 6.0  # of a collection that the prior counts for
LEAST_SPREAD = {"words": 0.25, "phrases": 0.25, "meaning": 0.012, "title": 0.3, "query_title": 0.3}
SAMPLED_SIDES = frozenset(LEAST_SPREAD)  # the others are mostly 0
BOTH_WAYS = ("title", "query_title")  # one level, so that two documents share as much both ways
MOST = 4.0  # spreads up to which each counts in full
STAND_IN = "meaning"  # the side that is known of documents in different languages too
LEAST_PAIRS = 6  # that say what unrelated documents have in common on a side
SAMPLED = 32  # documents of a collection whose pairs are a sample of its random pairs
ONE_TEXT = 0.5  # similarity of the phrases of versions of one text, which are no random pair ...
MOST_OF_ONE_TEXT = 0.5  # ... unless more of the pairs are: then such documents always share their wording
ONE_MORE = 0.375  # added to each count before its square root is taken, whose spread then hardly depends on the count


def on_scale(side: str, similarity: Floats) -> Floats:
    """A similarity as its level is measured: ln(x + floor) of the positive part x, or x itself on a linear side."""
    if BY_NAME[side].linear:
        return np.asarray(similarity)
    return np.asarray(np.log(np.maximum(similarity, 0) + BY_NAME[side].floor))


@dataclass(frozen=True)
class Level:
    """One side's similarity, on its scale, between unrelated documents of usual length, and how far it varies."""

    mean: float
    spread: float

    def blend(self, other: "Level", share: float) -> "Level":
        """A level between two: `share` of the other.

        >>> Level(-3.0, 0.5).blend(Level(-1.0, 0.5), share=0.25)
        Level(mean=-2.5, spread=0.5)
        """
        mean = (1 - share) * self.mean + share * other.mean
        spread = np.sqrt((1 - share) * self.spread**2 + share * other.spread**2)
        return Level(mean, float(spread))

    @staticmethod
    def of(values: Floats, least: float) -> "Level":
        """The level of random pairs, a few of which may be related: their median, and the spread around it and above.

        `least` is the smallest spread: where most pairs share nothing at all, quantiles have none.
        """
        low, middle, high, top = np.quantile(values, [0.16, 0.5, 0.84, 0.9])
        around = max((min(high - middle, middle - low) + high - low) / 3, least)
        above = max((top - middle) / 1.28, least)  # 1.28: where a normal distribution has a tenth above
        return Level(float(middle), float(around + above) / 2)


FOREIGN = {"words": Level(-0.15, 0.6), "phrases": Level(-2.9, 0.6)}
"""What unrelated documents share in a language that the background text lacks, as German reports of one authority."""


@dataclass(frozen=True)
class Unrelated:
    """The level of each side in a collection, and how it moves with the lengths of two documents."""

    levels: Mapping[str, Level]
    slopes: Mapping[str, tuple[float, float]]  # per ln of the shorter document's words, and of the longer one's
    doubt: float = 0.0  # that the documents are of a kind of their own, from 0 to 1 ...
    doubtful: Mapping[str, Level] = field(default_factory=dict)  # ... and the levels then
    words: float = USUAL_WORDS  # of a usual document of the collection
    ignorance: float = 0.0  # of what is common in the documents' language at all, from 0 to 1

    def expected(self, side: str, shorter: Floats, longer: Floats) -> Floats:
        """What unrelated documents of these numbers of words have, on the side's scale."""
        slopes = self.slopes.get(side, (0.0, 0.0))
        logs = (np.log(np.maximum(words, 1.0) / USUAL_WORDS) for words in (shorter, longer))
        return np.asarray(self.levels[side].mean + sum(s * x for s, x in zip(slopes, logs, strict=True)))

    def surprise(self, similarities: Similarities, shorter: Floats, longer: Floats) -> dict[str, Floats]:
        """By how many spreads each similarity exceeds that of unrelated documents; from MOST on it counts half.

        Where a side says nothing of two documents, as their words if they are in different languages, their meaning
        stands in for it.
        """
        found = {}
        for side, similarity in similarities.items():
            if side in self.levels:
                above = on_scale(side, similarity) - self.expected(side, shorter, longer)
                spreads = above / self.levels[side].spread
                found[side] = np.minimum(spreads, MOST) + np.maximum(spreads - MOST, 0) / 2
        instead = found.get(STAND_IN, np.zeros(1))
        return {side: np.where(np.isnan(x), instead, x) for side, x in found.items()}

    def chance(self, side: str) -> float:
        """The similarity of unrelated documents of the collection's usual length."""
        words = np.array(self.words)
        expected = float(self.expected(side, words, words))
        similarity = expected if BY_NAME[side].linear else float(np.exp(expected)) - BY_NAME[side].floor
        return min(max(similarity, 0.0), MOST_CHANCE)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> "Unrelated":
        """What `to_dict` made."""
        levels, doubtful = _levels(values["levels"]), _levels(values["doubtful"])
        numbers = values["words"], values["ignorance"]
        return Unrelated(levels, _slopes(values["slopes"]), values["doubt"], doubtful, *numbers)


@dataclass(frozen=True)
class Sample:
    """Random pairs of a collection: their similarities by side, and the words of both documents."""

    similarities: Similarities
    shorter: Floats
    longer: Floats
    documents: int  # of the collection

    @property
    def without_versions(self) -> "Sample":
        """Without the pairs that share most of their text: contracts of one form, drafts of one report."""
        kept = ~(self.similarities.get("phrases", np.zeros(len(self.shorter))) >= ONE_TEXT)
        if kept.mean() < 1 - MOST_OF_ONE_TEXT:
            return self
        similarities = {side: x[kept] for side, x in self.similarities.items()}
        return replace(self, similarities=similarities, shorter=self.shorter[kept], longer=self.longer[kept])

    def levels(self, slopes: Mapping[str, tuple[float, float]]) -> dict[str, Level]:
        """The level of each side, the effect of lengths taken out."""
        flat = Unrelated({side: Level(0.0, 1.0) for side in self.similarities}, slopes)
        above = {
            side: on_scale(side, x) - flat.expected(side, self.shorter, self.longer)
            for side, x in self.similarities.items()
        }
        above = {side: x[~np.isnan(x)] for side, x in above.items()}
        titles = [x for side, x in above.items() if side in BOTH_WAYS]
        return {
            side: Level.of(np.concatenate(titles) if side in BOTH_WAYS else x, LEAST_SPREAD[side])
            for side, x in above.items()
            if len(x) >= LEAST_PAIRS
        }


@dataclass(frozen=True)
class Known:
    """How far some documents are known, each from 0 to 1."""

    wording: float = 1.0  # 0 for general prose, 1 for that of a kind that the background text has
    vocabulary: float = 1.0  # whether the background text has their words
    kind: float = 1.0  # share of their pairs whose kind is known at all


@dataclass(frozen=True)
class Prior:
    """The levels of documents of a kind that the background text has, of general prose, and of a kind that it lacks.

    Documents of a kind of their own, contracts or manuals, share far more than it seems.
    """

    known: Mapping[str, Level]
    general: Mapping[str, Level]
    unknown: Mapping[str, Level]
    slopes: Mapping[str, tuple[float, float]]

    def unrelated(self, known: Known, sample: Sample | None = None, words: float = USUAL_WORDS) -> Unrelated:
        """For documents that are known to that degree.

        `sample` are random pairs of their collection, `words` those of a usual document where there is no sample.
        """
        share = sample.documents / (sample.documents + PRIOR_DOCUMENTS) if sample else 0.0
        sampled = sample.without_versions.levels(self.slopes) if sample else {}
        if sample:
            words = usual_length(np.concatenate([sample.shorter, sample.longer]))
        foreign = 1 - known.vocabulary
        usual = {side: level.blend(self.general[side], 1 - known.wording) for side, level in self.known.items()}
        likely, doubtful = dict[str, Level](), dict[str, Level]()
        for found, levels in ((likely, usual), (doubtful, self.unknown)):
            for side, level in levels.items():
                here = level.blend(FOREIGN.get(side, level), foreign)  # there common words pass for rare ones
                found[side] = here.blend(sampled.get(side, here), share)
        doubt = MOST_DOUBT * (1 - known.kind) * (1 - share)
        return Unrelated(likely, self.slopes, doubt, doubtful, words, foreign * (1 - share))

    @staticmethod
    def read(path: Path) -> "Prior":
        """Read what `write` wrote."""
        content = json.loads(path.read_text(encoding="utf-8"))
        known, general, unknown = (_levels(content[name]) for name in ("known", "general", "unknown"))
        return Prior(known, general, unknown, _slopes(content["slopes"]))

    def write(self, path: Path) -> None:
        """Write as JSON."""
        path.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")


def drawn_documents(count: int) -> list[int]:
    """The positions of at most SAMPLED of `count` documents, drawn at random and always the same.

    >>> drawn_documents(3)
    [0, 1, 2]
    """
    return sorted(np.random.default_rng(0).permutation(count)[:SAMPLED].tolist())


def usual_length(words: Floats) -> float:
    """The geometric mean of numbers of words.

    >>> usual_length(np.array([500.0, 2000.0]))
    1000.0
    """
    return round(float(np.exp(np.log(np.maximum(words, 1.0)).mean())), 1) if len(words) else USUAL_WORDS


def _levels(values: Mapping[str, Mapping[str, float]]) -> dict[str, Level]:
    return {side: Level(**level) for side, level in values.items()}


def _slopes(values: Mapping[str, Sequence[float]]) -> dict[str, tuple[float, float]]:
    return {side: (float(shorter), float(longer)) for side, (shorter, longer) in values.items()}


@dataclass(frozen=True)
class Style:
    """How often documents of a kind have each of the commonest words, how that varies, and how far."""

    lengths: Floats  # logarithms of the words of short and of long documents, between which they are measured
    usual: Floats  # (3, words): usual frequencies, as they move with the length
    scaling: Floats  # (words, words): what makes deviations independent of each other, and of spread 1
    range: Floats  # (1,): the deviation up to which a document is of the kind
    together: Floats  # (1,): the cosine of two deviations up to which they are each document's own

    def deviations(self, frequencies: Floats, words: Floats) -> Floats:
        """Of documents from the middle of the kind: (documents, words)."""
        return np.asarray((frequencies - by_length(words, self.lengths) @ self.usual) @ self.scaling)

    def of_kind(self, frequencies: Floats, words: Floats) -> Flags:
        """Which two of some documents are of the kind: (documents, documents)."""
        deviations = self.deviations(frequencies, words)
        within = np.linalg.norm(deviations, axis=1) <= self.range
        directions = unit_rows(deviations)
        return np.asarray(within[:, None] & within & (directions @ directions.T <= self.together))


@dataclass(frozen=True)
class Kinds:
    """The styles of some kinds of text, in the frequencies of some words."""

    words: Hashes  # sorted
    styles: Mapping[str, Style]

    def known(self, documents: Sequence[Counts]) -> float:
        """The share of the pairs of documents, given by their words, whose kind is known; 1 where there is no pair."""
        first, second = np.triu_indices(len(documents), 1)
        if not len(first):
            return 1.0
        frequencies, words = root_frequencies(self.words, documents)
        found = [style.of_kind(frequencies, words)[first, second] for style in self.styles.values()]
        return float(np.any(found, axis=0).mean()) if found else 0.0

    def write(self, path: Path) -> None:
        """Write as safetensors."""
        table: dict[str, npt.NDArray[np.generic]] = {"words": self.words.view(np.int64)}
        for name, style in self.styles.items():
            table |= {f"{name}.{field}": value.astype(np.float32) for field, value in vars(style).items()}
        save_file(table, path)

    @staticmethod
    def read(path: Path) -> "Kinds":
        """Read what `write` wrote."""
        table = load_file(path)
        names = dict.fromkeys(key.rpartition(".")[0] for key in sorted(table) if "." in key)
        styles = {
            name: Style(**{field.name: table[f"{name}.{field.name}"].astype(np.float64) for field in fields(Style)})
            for name in names
        }
        return Kinds(table["words"].view(np.uint64), styles)


def root_frequencies(words: Hashes, documents: Sequence[Counts]) -> tuple[Floats, Floats]:
    """The square roots of the frequencies of some sorted words in documents, and the documents' numbers of words."""
    totals = np.array([float(counts.counts.sum()) for counts in documents])
    roots = np.empty((len(documents), len(words)))
    for row, counts in zip(roots, documents, strict=True):
        position, present = lookup(counts.ids, words)
        row[:] = ONE_MORE
        row[present] += counts.counts[position[present]]
    return np.sqrt(roots / np.maximum(totals, 1.0)[:, None]), totals


def by_length(words: Floats, lengths: Floats) -> Floats:
    """What the usual frequency of a word moves with: 1, the length's logarithm, and the noise of short documents."""
    logs = np.clip(np.log(np.maximum(words, 1.0)), *lengths)
    return np.stack([np.ones(len(logs)), logs, np.exp(-logs / 2)], axis=1)
