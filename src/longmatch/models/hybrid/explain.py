"""Why two documents match: the score's three sides taken apart into sections and aligned passages.

The score's evidence is a sum over sentences, on each side. So the contribution of a passage is exact arithmetic, not an
estimate: a sentence's share of the meaning goes to its best partner, its share of the shared words and phrases to the
sentence that shares most of them.
"""

from dataclasses import dataclass

import numpy as np
import torch

from longmatch.matching.align import Evidence, Floats, Ints, alignments, merge
from longmatch.matching.calibration import Calibration, mean_length
from longmatch.matching.levels import Partners, best_partners, group_scores
from longmatch.matching.match import Alignment, Grid, Level, Match, Term
from longmatch.matching.sentences import Groups
from longmatch.models.background import Statistics
from longmatch.models.hybrid.collection import Rarity
from longmatch.models.hybrid.encoding import Encoding
from longmatch.models.lexical.links import Links, Shared, link_sentences, shared_terms
from longmatch.models.lexical.parts import group_cosines, heaviest_terms, shared_words
from longmatch.models.lexical.weights import Idf, Weighted, tfidf


@dataclass(frozen=True)
class Explanation:
    """Two encodings compared: best partners by meaning, links by shared terms, and each side's similarity."""

    a: Encoding
    b: Encoding
    statistics: Statistics
    rarity: Rarity
    meaning: tuple[Partners, Partners]
    lexical: tuple[Links, Links]
    shared: tuple[Shared, Shared]  # words, phrases
    sides: dict[str, Floats]

    @staticmethod
    def of(a: Encoding, b: Encoding, statistics: Statistics, rarity: Rarity | None = None) -> "Explanation":
        """Compare two encodings; alone, their words are weighed by the background text."""
        rarity = rarity or Rarity.of([a, b], statistics)
        meaning = best_partners(a.side, b.side)
        weighted = _weigh(a, b, rarity)
        shared = tuple(shared_terms(*pair) for pair in weighted)
        spread = rarity.calibration(statistics).spread
        streams = [(a.terms.words, b.terms.words), (a.terms.phrases, b.terms.phrases)]
        lexical = link_sentences(streams, shared, [1 / spread["words"], 1 / spread["phrases"]])
        sides = {
            "words": np.array([weighted[0][0].dot(weighted[0][1])]),
            "phrases": np.array([weighted[1][0].dot(weighted[1][1])]),
            "meaning": np.array([sum(float(p.corrected.double().mean()) for p in meaning) / 2]),
        }
        return Explanation(a, b, statistics, rarity, meaning, lexical, (shared[0], shared[1]), sides)

    @property
    def score(self) -> float:
        """The calibrated score."""
        return float(self.calibration.score(self.sides, self._length)[0])

    @property
    def calibration(self) -> Calibration:
        """How the sides are weighed, for the language of the two."""
        return self.rarity.calibration(self.statistics)

    @property
    def _length(self) -> Floats:
        return mean_length(np.array([self.a.words]), np.array([self.b.words]))

    def match(self, model: str) -> Match:
        """The result a user sees."""
        return Match(
            a=self.a.document,
            b=self.b.document,
            score=self.score,
            sections=self.grid("sections"),
            alignments=self.alignments(),
            model=model,
            parts=self.parts(),
            terms=self.terms(),
            grids=self.grid,
            measured=True,
        )

    def parts(self) -> dict[str, float]:
        """Each side's share of the evidence."""
        calibration = self.calibration
        parts = {name: calibration.part(name, x, self._length) for name, x in self.sides.items()}
        evidence = {name: max(0.0, float(x[0])) for name, x in parts.items()}
        total = sum(evidence.values()) or 1.0
        return {name: x / total for name, x in evidence.items()}

    def grid(self, level: Level) -> Grid:
        """The calibrated score of every group of one document with every group of the other."""
        return calibrated_grid(self.a, self.b, level, self.statistics, self.rarity)

    def alignments(self, most: int | None = None) -> tuple[Alignment, ...]:
        """Aligned passages; their contributions sum to 1. Or only the strongest `most` of them, which is quicker."""
        forward = self._evidence(0, len(self.a))
        backward = self._evidence(1, len(self.b))
        return alignments(
            merge(forward, backward),
            (self.a.sentences.passage, self.b.sentences.passage),
            self._pair_scores,
            self._words,
            most,
        )

    def _evidence(self, side: int, size: int) -> list[Evidence]:
        """What the sentences of one document contribute: half of each side's evidence comes from each document."""
        partners, links = self.meaning[side], self.lexical[side]
        semantic = partners.corrected.clamp(min=0).double().numpy() / self.calibration.spread["meaning"]
        nearest = partners.index.numpy()
        linked = np.where(links.partner >= 0, links.partner, nearest)
        return [Evidence(nearest, semantic / (2 * size)), Evidence(linked, links.mass / 2, lexical=True)]

    def _pair_scores(self, a: Ints, b: Ints) -> Floats:
        return pair_scores(self.a, self.b, a, b)

    def _words(self, i: int, j: int) -> tuple[str, ...]:
        text = self.a.sentences.readable(i)
        return shared_words(self.shared[0], self.a.terms.words, self.b.terms.words, (i, j), text)

    def terms(self) -> tuple[Term, ...]:
        """The words and phrases that carry most of the lexical evidence."""
        spread = self.calibration.spread
        weighed = [
            Shared(shared.ids, shared.mass / spread[name])
            for name, shared in zip(("words", "phrases"), self.shared, strict=True)
        ]
        return heaviest_terms(weighed, [self.a.terms.words, self.a.terms.phrases], self.a.sentences)


def calibrated_grid(a: Encoding, b: Encoding, level: Level, statistics: Statistics, rarity: Rarity) -> Grid:
    """Every group of a with every group of b, by the same three sides and the same calibration as whole documents."""
    mine, theirs = a.sentences.groups(level), b.sentences.groups(level)
    meaning = group_scores(a.side, b.side, mine.offsets, theirs.offsets).double().numpy()
    words = group_cosines(a.terms.words, b.terms.words, mine, theirs, rarity.words)
    phrases = group_cosines(a.terms.phrases, b.terms.phrases, mine, theirs, rarity.phrases)
    lengths = mean_length(_group_words(a, mine)[:, None], _group_words(b, theirs))
    sides = {"words": words, "phrases": phrases, "meaning": meaning}
    scores = rarity.calibration(statistics).score(sides, lengths).astype(np.float32)
    return Grid(mine.labels, theirs.labels, mine.spans, theirs.spans, scores)


def _group_words(encoding: Encoding, groups: Groups) -> Floats:
    bounds = encoding.terms.words.offsets[groups.offsets.numpy()]
    return np.asarray(np.diff(bounds), dtype=np.float64)


def pair_scores(a: Encoding, b: Encoding, i: Ints, j: Ints) -> Floats:
    """How alike the sentences of each pair are: their cosine, corrected for what two unrelated sentences have."""
    mine, theirs = torch.from_numpy(i), torch.from_numpy(j)
    cosine = (a.side.vectors[mine] * b.side.vectors[theirs]).sum(1)
    expected = (a.side.expectations[mine, 0] + b.side.expectations[theirs, 0]) / 2
    return np.asarray(((cosine - expected) / (1 - expected)).clamp(0, 1).double().numpy())


def _weigh(a: Encoding, b: Encoding, rarity: Rarity) -> list[tuple[Weighted, Weighted]]:
    streams = ((a.terms.words, b.terms.words), (a.terms.phrases, b.terms.phrases))
    return [
        (tfidf(mine.counts, idf), tfidf(theirs.counts, idf))
        for (mine, theirs), idf in zip(streams, _idfs(rarity), strict=True)
    ]


def _idfs(rarity: Rarity) -> tuple[Idf, Idf]:
    return rarity.words, rarity.phrases
