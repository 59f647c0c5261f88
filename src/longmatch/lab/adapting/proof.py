"""Whether what was learnt is better: passages of held-back documents ask for each other, before and after.

A passage is a run of sentences of one half of a document; its answer is a passage of the other half. They are ranked
as the default matcher ranks documents, among the passages of all held-back documents and of some others.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from longmatch.default.collection import Collection
from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.lab.adapting.learning.passages import Reading, halves
from longmatch.lab.evaluation.scoring.scorer import no_sentences
from longmatch.lab.evaluation.significance import compare_queries
from longmatch.matching.levels import SentenceVectors

Floats = npt.NDArray[np.float64]
Report = Callable[[int], None]  # told how many passages are read since the last call

PASSAGE = 8  # sentences
ROUNDS = 3  # passages of each half
LEVEL = 0.05  # the chance at which a difference is taken for real
CEILING, HAIR = 0.98, 0.002  # a score that cannot rise much, and what it may fall by then


@dataclass(frozen=True)
class Measured:
    """The mean reciprocal rank of the right passage without and with what was learnt.

    `p` is the chance of a difference that large upwards, were both alike (randomisation test over documents).
    """

    before: float
    after: float
    p: float

    @staticmethod
    def of(before: Floats, after: Floats) -> "Measured":
        """From the values of each document."""
        found = compare_queries(after, before)
        p = found.p / 2 if found.difference > 0 else 1 - found.p / 2
        return Measured(float(before.mean()), float(after.mean()), p)

    @property
    def difference(self) -> float:
        """How much better."""
        return self.after - self.before

    @property
    def is_better(self) -> bool:
        """Beyond what chance gives."""
        return self.difference > 0 and self.p < LEVEL


@dataclass(frozen=True)
class Proof:
    """Of the score the default ranks by, and of its meaning side alone."""

    score: Measured
    meaning: Measured
    documents: int  # held back
    passages: int  # that ask
    among: int  # passages each is looked for in

    @property
    def holds(self) -> bool:
        """The score is better; or it has no room to be, keeps what it had, and meaning is better."""
        full = self.score.before >= CEILING and self.score.difference >= -HAIR
        return self.score.is_better or (full and self.meaning.is_better)

    @property
    def verdict(self) -> str:
        """In a sentence."""
        if self.score.is_better:
            return "The score finds held-back passages better than before."
        if self.holds:
            return "The score finds nearly all held-back passages as before, and meaning alone finds more of them."
        if self.score.difference > 0:
            return "The score is no better than chance might make it."
        return "The score finds held-back passages no better than before."

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {"verdict": self.verdict}

    @staticmethod
    def of_dict(told: dict[str, Any]) -> "Proof":
        """What `to_dict` told."""
        score, meaning = (Measured(**told[name]) for name in ("score", "meaning"))
        return Proof(score, meaning, told["documents"], told["passages"], told["among"])


def prove(
    before: HybridMatcher,
    after: HybridMatcher,
    held: Sequence[Reading],
    others: Sequence[Reading],
    seed: int,
    report: Report | None = None,
) -> Proof:
    """Compare two matchers on passages of the documents held back, among some of other documents."""
    rng = np.random.default_rng(seed)
    around = [_passage(document, halves(document.paragraph)[0], rng) for document in others]
    rounds = [[passage for document in held for passage in _two(document, rng)] for _ in range(ROUNDS)]
    found = [_reciprocal_ranks(matcher, rounds, around, report) for matcher in (before, after)]
    score, meaning = (Measured.of(found[0][name], found[1][name]) for name in ("score", "meaning"))
    return Proof(score, meaning, len(held), 2 * ROUNDS * len(held), 2 * len(held) + len(around) - 1)


def passages_read(held: int, others: int) -> int:
    """How many passages a proof reads."""
    return 2 * (2 * ROUNDS * held + others)


def _two(document: Reading, rng: np.random.Generator) -> Iterator[Reading]:
    return (_passage(document, half, rng) for half in halves(document.paragraph))


def _passage(document: Reading, rows: npt.NDArray[np.int64], rng: np.random.Generator) -> Reading:
    """A run of sentences of a half."""
    start = int(rng.integers(0, max(1, len(rows) - PASSAGE + 1)))
    return document.part(rows[start : start + PASSAGE])


def _reciprocal_ranks(
    matcher: HybridMatcher, rounds: Sequence[Sequence[Reading]], around: Sequence[Reading], report: Report | None
) -> dict[str, Floats]:
    """Of each held-back document, for the score and for meaning: the mean over its passages."""
    others = encode_passages(matcher, around, report)
    found: dict[str, list[Floats]] = {"score": [], "meaning": []}
    for passages in rounds:
        encodings = encode_passages(matcher, passages, report)
        collection = Collection.of([*encodings, *others], matcher.statistics)
        calibration = collection.rarity.calibration(matcher.statistics)
        ranked = {name: np.empty(len(passages)) for name in found}
        for number, query in enumerate(encodings):
            sides = collection.sides(query, tuple({*calibration.sides, "meaning"}))
            scores = {"meaning": sides["meaning"], "score": calibration.score({n: sides[n] for n in calibration.sides})}
            for name, values in scores.items():
                ranked[name][number] = 1 / _rank(values, number, number ^ 1)
        for name, values in ranked.items():
            found[name].append(values.reshape(-1, 2).mean(1))
    return {name: np.asarray(np.mean(values, axis=0)) for name, values in found.items()}


def _rank(scores: Floats, query: int, answer: int) -> int:
    """The place of the answer; what scores the same comes before it."""
    above = scores >= scores[answer]
    above[query] = False
    return int(above.sum())


def encode_passages(
    matcher: HybridMatcher, passages: Sequence[Reading], report: Report | None = None
) -> list[Encoding]:
    """Passages as the matcher sees them."""
    vectors = torch.from_numpy(matcher.backbone.encode([tokens for one in passages for tokens in one.tokens]))
    expectations = matcher.statistics.sentences.expectations(vectors)
    lengths = [len(passage) for passage in passages]
    parts = zip(passages, vectors.split(lengths), expectations.split(lengths), strict=True)
    if report:
        report(len(passages))
    return [Encoding(no_sentences(count=len(one)), SentenceVectors(*both), one.terms) for one, *both in parts]
