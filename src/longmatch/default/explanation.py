"""Why two documents match: the score's sides taken apart into sections and aligned passages.

A pair's similarity by words, phrases and meaning is a sum over sentences. So the contribution of a passage is exact
arithmetic, not an estimate: its share of the side's similarity, times the side's share of the evidence. A sentence's
share of the meaning goes to its best partner, its share of the shared words and phrases to the sentence that shares
most of them. Topic, titles and names belong to the whole documents: `parts` names their shares, no passage has any.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from longmatch.default.calibration import Calibration
from longmatch.default.collection import Rarity, length_lift, stacked_titles, told_scores
from longmatch.default.encoding import Encoding
from longmatch.default.mentions import shared_names
from longmatch.default.statistics import Statistics
from longmatch.lexical.cosines import group_cosines, shared_words
from longmatch.lexical.key_terms import telling_terms
from longmatch.lexical.links import Links, Shared, link_sentences, shared_terms
from longmatch.lexical.weights import Idf, Weighted, tfidf
from longmatch.matching.align import Evidence, Floats, Ints, alignments, merge
from longmatch.matching.levels import Partners, best_partners, group_scores
from longmatch.matching.match import Alignment, Grid, Level, Match, Term


@dataclass(frozen=True)
class Explanation:
    """Two encodings compared: best partners by meaning, shared terms, and the similarity on each side that counts."""

    a: Encoding
    b: Encoding
    statistics: Statistics
    rarity: Rarity
    meaning: tuple[Partners, Partners]
    shared: tuple[Shared, Shared]  # words, phrases
    sides: dict[str, Floats]
    probability: float  # that the two belong together

    @staticmethod
    def of(a: Encoding, b: Encoding, statistics: Statistics, rarity: Rarity | None = None) -> "Explanation":
        """Compare two encodings; alone, their words are weighed by the background text."""
        rarity = rarity or Rarity.of([a, b], statistics)
        meaning = best_partners(a.sentence_vectors, b.sentence_vectors)
        weighted = _weigh(a, b, rarity)
        shared = shared_terms(*weighted[0]), shared_terms(*weighted[1])
        found = {
            "words": lambda: weighted[0][0].dot(weighted[0][1]),
            "phrases": lambda: weighted[1][0].dot(weighted[1][1]),
            "meaning": lambda: sum(float(p.corrected.double().mean()) for p in meaning) / 2,
            "topic": lambda: float(a.mean @ b.mean),
            "title": lambda: weighted[0][0].dot(tfidf(b.title, rarity.words)),
            "titled": lambda: weighted[0][1].dot(tfidf(a.title, rarity.words)),
            "told": lambda: _told(a, b),
            "named": lambda: shared_names(a, b, rarity).similarity,
            "length": lambda: float(length_lift(a.words, b.words, rarity.length)),
        }
        calibration = rarity.calibration(statistics)
        likely = statistics.probability
        known = {name: np.array([found[name]()]) for name in {*calibration.sides, *likely.scales}}
        sides = {name: known[name] for name in calibration.sides}
        probability = float(likely.of(known, np.array([min(a.words, b.words)]), rarity.trust[0])[0])
        return Explanation(a, b, statistics, rarity, meaning, shared, sides, probability)

    @property
    def score(self) -> float:
        """The calibrated score."""
        return float(self.calibration.score(self.sides)[0])

    @property
    def calibration(self) -> Calibration:
        """How the sides are weighed, for the language of the two."""
        return self.rarity.calibration(self.statistics)

    @cached_property
    def parts(self) -> dict[str, float]:
        """Each side's share of the evidence."""
        return self.calibration.shares(self.sides)

    @property
    def _worth(self) -> list[float]:
        """Of words and of phrases, what a unit of their similarity gives of the evidence."""
        known = ((self.parts.get(name, 0.0), self.sides.get(name)) for name in ("words", "phrases"))
        return [share / float(x[0]) if share and x is not None else 0.0 for share, x in known]

    @cached_property
    def _links(self) -> tuple[Links, Links]:
        a, b = self.a.terms, self.b.terms
        return link_sentences([(a.words, b.words), (a.phrases, b.phrases)], self.shared, self._worth)

    def match(self, model: str) -> Match:
        """The result a user sees."""
        return Match(
            a=self.a.document,
            b=self.b.document,
            score=self.score,
            sections=self.grid("sections"),
            alignments=self.alignments(),
            model=model,
            probability=self.probability,
            parts=self.parts,
            terms=self.terms(),
            names=self.names(),
            grids=self.grid,
            measured=True,
        )

    def grid(self, level: Level) -> Grid:
        """How alike every group of one document and every group of the other are."""
        return calibrated_grid(self.a, self.b, level, self.statistics, self.rarity)

    def alignments(self, most: int | None = None) -> tuple[Alignment, ...]:
        """Aligned passages; their contributions sum to 1. Or only the strongest `most` of them, which is quicker."""
        return alignments(
            merge(*self._evidence()),
            (self.a.sentences.passage, self.b.sentences.passage),
            self._pair_scores,
            self._words,
            most,
        )

    def _evidence(self) -> Iterator[list[Evidence]]:
        """What the sentences of each document contribute; a word's share is halved, as both documents hold it."""
        above = [partners.corrected.clamp(min=0).double().numpy() for partners in self.meaning]
        total = sum(float(mass.mean()) for mass in above) or 1.0
        share = self.parts.get("meaning", 0.0)
        for partners, mass, links in zip(self.meaning, above, self._links, strict=True):
            nearest = partners.index.numpy()
            linked = np.where(links.partner >= 0, links.partner, nearest)
            semantic = share * mass / (len(mass) * total)
            yield [Evidence(nearest, semantic), Evidence(linked, links.mass / 2, lexical=True)]

    def _pair_scores(self, a: Ints, b: Ints) -> Floats:
        return pair_scores(self.a, self.b, a, b)

    def _words(self, i: int, j: int) -> tuple[str, ...]:
        text = self.a.sentences.readable(i)
        return shared_words(self.shared[0], self.a.terms.words, self.b.terms.words, (i, j), text)

    def terms(self) -> tuple[Term, ...]:
        """The words and phrases that carry most of the lexical evidence and say something by themselves."""
        weighed = [Shared(found.ids, found.mass * worth) for found, worth in zip(self.shared, self._worth, strict=True)]
        return telling_terms(weighed, self.a.terms.words, self.a.sentences, self.statistics.words)

    def names(self) -> tuple[str, ...]:
        """The rarest of the documents that both name, where names count."""
        return shared_names(self.a, self.b, self.rarity).told() if "named" in self.sides else ()


def calibrated_grid(a: Encoding, b: Encoding, level: Level, statistics: Statistics, rarity: Rarity) -> Grid:
    """How alike every group of a and every group of b are, by the words and the meaning of the document score.

    It is their likeness, not a probability: that was learnt of whole documents, and so is what topic and titles tell.
    """
    mine, theirs = a.sentences.groups(level), b.sentences.groups(level)
    found: dict[str, Callable[[], Floats]] = {
        "words": lambda: group_cosines(a.terms.words, b.terms.words, mine, theirs, rarity.words),
        "meaning": lambda: (
            group_scores(a.sentence_vectors, b.sentence_vectors, mine.offsets, theirs.offsets).double().numpy()
        ),
    }
    calibration = rarity.calibration(statistics)
    sides = {name: found[name]() for name in calibration.sides if name in found}
    return Grid(mine.labels, theirs.labels, mine.spans, theirs.spans, calibration.likeness(sides).astype(np.float32))


def pair_scores(a: Encoding, b: Encoding, i: Ints, j: Ints) -> Floats:
    """How alike the sentences of each pair are: their cosine, corrected for what two unrelated sentences have."""
    mine, theirs = torch.from_numpy(i), torch.from_numpy(j)
    cosine = (a.sentence_vectors.vectors[mine] * b.sentence_vectors.vectors[theirs]).sum(1)
    expected = (a.sentence_vectors.expectations[mine, 0] + b.sentence_vectors.expectations[theirs, 0]) / 2
    return np.asarray(((cosine - expected) / (1 - expected)).clamp(0, 1).double().numpy())


def _told(a: Encoding, b: Encoding) -> float:
    vectors = a.sentence_vectors.vectors
    return float(told_scores(vectors, stacked_titles([b.title_vector], vectors))[0])


def _weigh(a: Encoding, b: Encoding, rarity: Rarity) -> list[tuple[Weighted, Weighted]]:
    streams = ((a.terms.words, b.terms.words), (a.terms.phrases, b.terms.phrases))
    return [
        (tfidf(mine.counts, idf), tfidf(theirs.counts, idf))
        for (mine, theirs), idf in zip(streams, _idfs(rarity), strict=True)
    ]


def _idfs(rarity: Rarity) -> tuple[Idf, Idf]:
    return rarity.words, rarity.phrases
