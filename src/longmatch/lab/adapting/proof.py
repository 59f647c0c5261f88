"""Whether a learnt change is better: passages of held-out documents are searched with each other, before and after.

A passage is a run of sentences of one half of a document; the right answer is a passage of the other half. They are
ranked as the default matcher ranks documents, among the passages of all held-out documents and of some others.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from longmatch.default.collection import Collection
from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.lab.adapting.passages import Ints, TokenizedText, halves
from longmatch.lab.evaluation.scoring.scorer import no_sentences
from longmatch.lab.evaluation.significance import compare_queries
from longmatch.matching.levels import SentenceVectors

Floats = npt.NDArray[np.float64]
OnPassages = Callable[[int], None]  # called with the number of passages encoded since the last call

PASSAGE = 8  # sentences
ROUNDS = 3  # passages of each half
LEVEL = 0.05  # of significance
CEILING, TOLERANCE = 0.98, 0.002  # a score that cannot rise much, and how far it may fall then


@dataclass(frozen=True)
class Gain:
    """The mean reciprocal rank of the right passage without and with the learnt change.

    `p` is one-sided: the chance of a gain that large if there were none (randomisation test over documents).
    """

    before: float
    after: float
    p: float

    @staticmethod
    def of(before: Floats, after: Floats) -> "Gain":
        """From the reciprocal ranks of each document."""
        result = compare_queries(after, before)
        p = result.p / 2 if result.difference > 0 else 1 - result.p / 2
        return Gain(float(before.mean()), float(after.mean()), p)

    @property
    def difference(self) -> float:
        """How much better."""
        return self.after - self.before

    @property
    def is_better(self) -> bool:
        """Significantly better."""
        return self.difference > 0 and self.p < LEVEL


@dataclass(frozen=True)
class Proof:
    """By the score the default ranks by, and by its meaning side alone."""

    score: Gain
    meaning: Gain
    documents: int  # held out
    passages: int  # used as queries
    among: int  # candidates of each query

    @property
    def holds(self) -> bool:
        """The score is better; or it is at its ceiling, hardly falls, and meaning is better."""
        at_ceiling = self.score.before >= CEILING and self.score.difference >= -TOLERANCE
        return self.score.is_better or (at_ceiling and self.meaning.is_better)

    @property
    def verdict(self) -> str:
        """In one sentence."""
        if self.score.is_better:
            return "The score finds held-out passages better than before."
        if self.holds:
            return "The score finds nearly all held-out passages as before, and meaning alone finds more of them."
        if self.score.difference > 0:
            return "The score is not significantly better."
        return "The score finds held-out passages no better than before."

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {"verdict": self.verdict}

    @staticmethod
    def of_dict(facts: dict[str, Any]) -> "Proof":
        """Read what `to_dict` wrote."""
        score, meaning = (Gain(**facts[name]) for name in ("score", "meaning"))
        return Proof(score, meaning, facts["documents"], facts["passages"], facts["among"])


def prove(
    before: HybridMatcher,
    after: HybridMatcher,
    held_out: Sequence[TokenizedText],
    others: Sequence[TokenizedText],
    seed: int,
    on_passages: OnPassages | None = None,
) -> Proof:
    """Compare two matchers on passages of held-out documents, among passages of others."""
    rng = np.random.default_rng(seed)
    distractors = [_passage(document, halves(document.paragraph)[0], rng) for document in others]
    rounds = [[passage for document in held_out for passage in _passages(document, rng)] for _ in range(ROUNDS)]
    ranks = [_reciprocal_ranks(matcher, rounds, distractors, on_passages) for matcher in (before, after)]
    score, meaning = (Gain.of(ranks[0][name], ranks[1][name]) for name in ("score", "meaning"))
    return Proof(score, meaning, len(held_out), 2 * ROUNDS * len(held_out), 2 * len(held_out) + len(distractors) - 1)


def passages_encoded(held_out: int, others: int) -> int:
    """The number of passages that a proof encodes."""
    return 2 * (2 * ROUNDS * held_out + others)


def _passages(document: TokenizedText, rng: np.random.Generator) -> Iterator[TokenizedText]:
    return (_passage(document, half, rng) for half in halves(document.paragraph))


def _passage(document: TokenizedText, half: Ints, rng: np.random.Generator) -> TokenizedText:
    """A random run of sentences of a half."""
    start = int(rng.integers(0, max(1, len(half) - PASSAGE + 1)))
    return document.part(half[start : start + PASSAGE])


def _reciprocal_ranks(
    matcher: HybridMatcher,
    rounds: Sequence[Sequence[TokenizedText]],
    distractors: Sequence[TokenizedText],
    on_passages: OnPassages | None,
) -> dict[str, Floats]:
    """By score and by meaning, for each held-out document the mean over its passages."""
    others = encode_passages(matcher, distractors, on_passages)
    results: dict[str, list[Floats]] = {"score": [], "meaning": []}
    for passages in rounds:
        encodings = encode_passages(matcher, passages, on_passages)
        collection = Collection.of([*encodings, *others], matcher.statistics)
        calibration = collection.rarity.calibration(matcher.statistics)
        ranked = {name: np.empty(len(passages)) for name in results}
        for number, query in enumerate(encodings):
            sides = collection.similarities(query, tuple({*calibration.sides, "meaning"}))
            scores = {"meaning": sides["meaning"], "score": calibration.score({n: sides[n] for n in calibration.sides})}
            for name, values in scores.items():
                ranked[name][number] = 1 / _rank(values, number, number ^ 1)
        for name, values in ranked.items():
            results[name].append(values.reshape(-1, 2).mean(1))
    return {name: np.asarray(np.mean(values, axis=0)) for name, values in results.items()}


def _rank(scores: Floats, query: int, answer: int) -> int:
    """The rank of the answer; ties come before it."""
    above = scores >= scores[answer]
    above[query] = False
    return int(above.sum())


def encode_passages(
    matcher: HybridMatcher, passages: Sequence[TokenizedText], on_passages: OnPassages | None = None
) -> list[Encoding]:
    """Encode passages with a matcher."""
    sentences = [tokens for passage in passages for tokens in passage.tokens]
    vectors = matcher.backbone.encode(sentences)
    expectations = matcher.statistics.sentences.expectations(vectors)
    ends = np.cumsum([len(passage) for passage in passages])[:-1]
    parts = zip(passages, np.split(vectors, ends), np.split(expectations, ends), strict=True)
    if on_passages:
        on_passages(len(passages))
    return [Encoding(no_sentences(count=len(p)), SentenceVectors(*pair), p.terms) for p, *pair in parts]
