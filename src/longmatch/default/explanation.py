"""Why two documents match: the sides of the score taken apart into sections and aligned passages.

A pair's similarity by words, phrases and meaning is a sum over sentences. So the contribution of a passage is exact
arithmetic, not an estimate: its share of the side's similarity, times the side's share of the evidence. A sentence's
share of the meaning goes to its best partner, its share of the shared words and phrases to the sentence that shares
most of them. Topic, titles and references belong to whole documents: `parts` gives their shares, no passage has any.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from longmatch.default.calibration import IN_LIKENESS, Calibration
from longmatch.default.collection import stack_title_vectors
from longmatch.default.encoding import Encoding
from longmatch.default.mentions import SharedMentions, shared_mentions
from longmatch.default.rarity import Rarity
from longmatch.default.sides import BY_NAME, Floats, named, similarities
from longmatch.default.statistics import Statistics
from longmatch.default.weighed import WeighedDocument
from longmatch.lexical.cosines import group_cosines, shared_words
from longmatch.lexical.key_terms import key_terms
from longmatch.lexical.links import Links, Shared, link_sentences, shared_terms
from longmatch.lexical.terms import KINDS, Flags, Ints, Kind
from longmatch.lexical.weights import Weighted, tfidf
from longmatch.matching.align import Evidence, alignments, merge
from longmatch.matching.levels import Partners, best_partners, group_scores
from longmatch.matching.match import Alignment, Grid, Level, Match, Term
from longmatch.ragged import Array, as_numbers, segment_ids
from longmatch.reuse.reuse import Reuse

BY_PARTNERS = named(lambda side: side.explained_by == "partners")
LEAST_REST = 50  # content words of either document by which the rest of it can be judged
LITTLE_DOUBT = 0.1  # about the kind of documents, up to which the probability needs no caution
LABELS = {side.name: side.label for side in BY_NAME.values()}


class PairComparison:
    """Two encodings as the sides read them: the second is the only candidate."""

    def __init__(self, query: WeighedDocument, candidate: WeighedDocument, rarity: Rarity) -> None:
        self.weighed = query, candidate
        self.query, self.candidate, self.rarity = query.encoding, candidate.encoding, rarity
        self.query_sentences, self.query_vector, self.query_words = (
            self.query.sentence_vectors.vectors,
            self.query.mean,
            self.query.words,
        )
        self.usual_words = rarity.usual_words

    @staticmethod
    def of(query: Encoding, candidate: Encoding, rarity: Rarity) -> "PairComparison":
        """Of two documents whose terms are still to be weighed."""
        return PairComparison(WeighedDocument(query, rarity), WeighedDocument(candidate, rarity), rarity)

    @cached_property
    def partners(self) -> tuple[Partners, Partners]:
        """The best partner of each sentence of the query, and of each sentence of the candidate."""
        return best_partners(self.query.sentence_vectors, self.candidate.sentence_vectors)

    @cached_property
    def weights(self) -> dict[Kind, tuple[Weighted, Weighted]]:
        """The TF-IDF weights of the query's and the candidate's words and phrases."""
        query, candidate = self.weighed
        return {kind: (query.weights[kind], candidate.weights[kind]) for kind in KINDS}

    @cached_property
    def mentions(self) -> SharedMentions:
        """The titles that both mention."""
        return shared_mentions(self.query, self.candidate, self.rarity)

    @property
    def candidate_vectors(self) -> Array:
        """(1, width)"""
        return self.candidate.mean[None]

    @property
    def title_vectors(self) -> Array:
        """(1, width)"""
        return stack_title_vectors([self.candidate.title_vector], self.query_sentences)

    @property
    def candidate_words(self) -> Ints:
        """(1,)"""
        return np.array([self.candidate.words])

    @property
    def same_language(self) -> Flags | None:
        """(1,)"""
        if self.rarity.reads_english_alone:
            return None
        return np.array([self.query.document.language == self.candidate.document.language])

    def term_cosines(self, kind: Kind) -> Floats:
        """The product of the weights of shared terms."""
        query, candidate = self.weights[kind]
        return np.array([query.dot(candidate)])

    def sentence_scores(self) -> Floats:
        """The mean over the best partners of both directions."""
        return np.array([sum(float(as_numbers(partners.corrected).mean()) for partners in self.partners) / 2])

    def title_cosines(self) -> Floats:
        """The candidate's title with the query's words."""
        return np.array([self.weights["words"][0].dot(tfidf(self.candidate.title_words, self.rarity.words))])

    def query_title_cosines(self) -> Floats:
        """The query's title with the candidate's words."""
        return np.array([self.weights["words"][1].dot(tfidf(self.query.title_words, self.rarity.words))])

    def coupling(self) -> Floats:
        """By the titles that both mention."""
        return np.array([self.mentions.coupling])


@dataclass(frozen=True)
class Explanation:
    """Two encodings compared: the similarity on each side that counts, and what it is made of."""

    comparison: PairComparison
    statistics: Statistics
    similarities: dict[str, Floats]  # by side
    score: float
    probability: float  # that the two belong together

    @staticmethod
    def of(a: Encoding, b: Encoding, statistics: Statistics, rarity: Rarity | None = None) -> "Explanation":
        """Compare two encodings; without the rarity of a collection, their words are weighed by the background text."""
        comparison = PairComparison.of(a, b, rarity or Rarity.of([a, b], statistics))
        values = similarities(comparison, comparison.rarity.sides(statistics))
        judged = comparison.rarity.judge(values, a.words, np.array([b.words]), statistics)
        return Explanation.by(comparison, statistics, values, *judged)

    @staticmethod
    def by(
        comparison: PairComparison,
        statistics: Statistics,
        values: Mapping[str, Floats],
        score: Floats,
        probability: Floats,
    ) -> "Explanation":
        """By similarities that are known already; arrays have one entry."""
        counted = {name: values[name] for name in comparison.rarity.calibration(statistics).sides}
        return Explanation(comparison, statistics, counted, float(score[0]), float(probability[0]))

    @property
    def a(self) -> Encoding:
        """The first document."""
        return self.comparison.query

    @property
    def b(self) -> Encoding:
        """The second document."""
        return self.comparison.candidate

    @property
    def rarity(self) -> Rarity:
        """How rare terms are."""
        return self.comparison.rarity

    @property
    def calibration(self) -> Calibration:
        """How the sides are weighed, for the language of the two."""
        return self.rarity.calibration(self.statistics)

    @cached_property
    def parts(self) -> dict[str, float]:
        """Each side's share of the evidence."""
        return self.calibration.shares(self.similarities)

    @cached_property
    def shared(self) -> tuple[Shared, ...]:
        """The words and the phrases of both, by what each carries of their similarity."""
        return tuple(shared_terms(*self.comparison.weights[kind]) for kind in KINDS)

    @cached_property
    def _evidence_per_similarity(self) -> list[float]:
        """The share of the evidence that a unit of similarity by words, and by phrases, is worth."""
        known = ((self.parts.get(kind, 0.0), self.similarities.get(kind)) for kind in KINDS)
        return [share / float(x[0]) if share and x is not None else 0.0 for share, x in known]

    @cached_property
    def _links(self) -> tuple[Links, Links]:
        streams = [(self.a.terms.of(kind), self.b.terms.of(kind)) for kind in KINDS]
        return link_sentences(streams, self.shared, self._evidence_per_similarity)

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
            known_kind=max(self.rarity.unrelated.doubt, self.rarity.unrelated.ignorance) <= LITTLE_DOUBT,
            comparable=not self.rarity.reads_english_alone or self.a.document.language == self.b.document.language,
            parts=self.parts,
            labels=LABELS,
            terms=self.terms(),
            names=self.names(),
            grids=self.grid,
            measured=True,
            judge_rest=self.probability_outside,
        )

    def probability_outside(self, reuse: Reuse) -> float | None:
        """The probability by what stands outside of the passages that both have; None where too little does."""
        a = self.a.outside(passage.a for passage in reuse.passages)
        b = self.b.outside(passage.b for passage in reuse.passages)
        if min(a.words, b.words) < LEAST_REST:
            return None
        return Explanation.of(a, b, self.statistics, self.rarity).probability

    def grid(self, level: Level) -> Grid:
        """How alike every group of one document and every group of the other are."""
        return likeness_grid(self.a, self.b, level, self.statistics, self.rarity)

    def alignments(self, most: int | None = None) -> tuple[Alignment, ...]:
        """Aligned passages, their contributions summing to 1; or the `most` to show, which is quicker."""
        return alignments(
            merge(*self._evidence()),
            (self.a.sentences.passage, self.b.sentences.passage),
            lambda i, j: sentence_pair_scores(self.a, self.b, i, j),
            self._shared_words,
            most,
        )

    def _evidence(self) -> Iterator[list[Evidence]]:
        """What the sentences of each document contribute; a term's share is halved, as both documents hold it."""
        above = [
            partners.corrected.clip(min=0).astype(np.float64) * weighed.distinctive
            for partners, weighed in zip(self.comparison.partners, self.comparison.weighed, strict=True)
        ]
        total = sum(float(mass.mean()) for mass in above) or 1.0
        share = sum(self.parts.get(name, 0.0) for name in BY_PARTNERS)
        for partners, mass, links in zip(self.comparison.partners, above, self._links, strict=True):
            nearest = partners.index
            linked = np.where(links.partner >= 0, links.partner, nearest)
            semantic = share * mass / (len(mass) * total)
            yield [Evidence(nearest, semantic), Evidence(linked, links.mass / 2, lexical=True)]

    def _shared_words(self, i: int, j: int) -> tuple[str, ...]:
        text = self.a.sentences.readable(i)
        return shared_words(self.shared[0], self.a.terms.words, self.b.terms.words, (i, j), text)

    def terms(self) -> tuple[Term, ...]:
        """The words and phrases that carry most of the lexical evidence and say something by themselves."""
        worth = zip(self.shared, self._evidence_per_similarity, strict=True)
        weighed = [Shared(shared.ids, shared.mass * unit) for shared, unit in worth]
        return key_terms(weighed, self.a.terms.words, self.a.sentences, self.statistics.terms)

    def names(self) -> tuple[str, ...]:
        """The rarest of the documents that both mention, where mentions count."""
        return self.comparison.mentions.spelled() if "named" in self.similarities else ()


def explain_within(encoding: Encoding, statistics: Statistics, model: str) -> Match:
    """Which sections of a document take each other up (CoLDE's figure 4): the grid, and the passages that correspond.

    The score is how much of the document returns in another of its sections: the mean corrected similarity of a
    sentence to its best partner elsewhere. Passages come from chunks where a document has a single section.
    """
    sentences = encoding.sentences
    level: Level = "sections" if len(sentences.sections.labels) > 1 else "chunks"
    rarity = Rarity.of([encoding], statistics)
    groups = sentences.groups(level)
    group = segment_ids(groups.offsets)
    partners, _ = best_partners(encoding.sentence_vectors, encoding.sentence_vectors, apart=(group, group))
    found = partners.cosine > -1.0
    strength = np.where(found, partners.corrected, 0.0).clip(min=0).astype(np.float64)
    index = partners.index
    onward = index > np.arange(len(index))  # a pair found from both its ends is one pair, the earlier passage first
    forward, backward = (Evidence(index, np.where(side, strength, 0.0)) for side in (onward, ~onward))
    return Match(
        a=encoding.document,
        b=encoding.document,
        score=float(np.mean(strength)) if len(strength) else 0.0,
        sections=likeness_grid(encoding, encoding, level, statistics, rarity),
        alignments=alignments(
            merge([forward], [backward]),
            (sentences.passage, sentences.passage),
            lambda i, j: sentence_pair_scores(encoding, encoding, i, j),
            lambda i, j: (),
        ),
        model=model,
        parts={"meaning": 1.0},
        labels=LABELS,
        grids=lambda chosen: likeness_grid(encoding, encoding, chosen, statistics, rarity),
    )


def likeness_grid(a: Encoding, b: Encoding, level: Level, statistics: Statistics, rarity: Rarity) -> Grid:
    """How alike every group of a and every group of b are, by words and meaning.

    It is their likeness, not a probability: that was learnt from whole documents, and so was what titles are worth.
    """
    rows, columns = a.sentences.groups(level), b.sentences.groups(level)
    compute: dict[str, Callable[[], Floats]] = {
        "words": lambda: group_cosines(a.terms.words, b.terms.words, rows, columns, rarity.words),
        "meaning": lambda: as_numbers(
            group_scores(a.sentence_vectors, b.sentence_vectors, rows.offsets, columns.offsets)
        ),
    }
    calibration = rarity.calibration(statistics)
    sides = {name: compute[name]() for name in calibration.sides if name in IN_LIKENESS}
    scores = calibration.likeness(sides).astype(np.float32)
    return Grid(rows.labels, columns.labels, rows.spans, columns.spans, scores)


def sentence_pair_scores(a: Encoding, b: Encoding, i: Ints, j: Ints) -> Floats:
    """The cosine of sentence i of a with sentence j of b, pair by pair, corrected for that of unrelated sentences."""
    cosine = (a.sentence_vectors.vectors[i] * b.sentence_vectors.vectors[j]).sum(1)
    expected = (a.sentence_vectors.expectations[i, 0] + b.sentence_vectors.expectations[j, 0]) / 2
    return as_numbers(((cosine - expected) / (1 - expected)).clip(0, 1))
