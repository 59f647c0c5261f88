"""Why two documents match: the sides of the score taken apart into sections and aligned passages.

A pair's similarity by words, phrases and meaning is a sum over sentences. So the contribution of a passage is exact
arithmetic, not an estimate: its share of the side's similarity, times the side's share of the evidence. A sentence's
share of the meaning goes to its best partner, its share of the shared words and phrases to the sentence that shares
most of them. Topic, titles and references belong to whole documents: `parts` gives their shares, no passage has any.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from longmatch.default.calibration import IN_LIKENESS, Calibration
from longmatch.default.collection import stack_title_vectors
from longmatch.default.encoding import Encoding
from longmatch.default.evidence import PassageEvidence, sentence_pair_scores
from longmatch.default.mentions import SharedMentions, shared_mentions
from longmatch.default.no_verdict import Language, no_verdict
from longmatch.default.rarity import Rarity
from longmatch.default.sides import BY_NAME, Floats, named, similarities
from longmatch.default.statistics import Statistics
from longmatch.default.weighed import WeighedDocument, distinctive_sentences
from longmatch.lexical.cosines import group_cosines
from longmatch.lexical.key_terms import key_terms
from longmatch.lexical.links import Shared, SharedTerms, link_sentences
from longmatch.lexical.terms import KINDS, Flags, Ints, Kind, Terms
from longmatch.lexical.weights import Weighted, tfidf
from longmatch.matching.align import Evidence, alignments, merge, readable_pairs
from longmatch.matching.levels import BothPartners, best_partners, group_scores, partners_score
from longmatch.matching.match import Alignment, Grid, Level, Match, Term
from longmatch.matching.wording import NoVerdict
from longmatch.ragged import Array, as_numbers, offsets_of, segment_ids
from longmatch.reuse.reuse import Reuse

BY_PARTNERS = named(lambda side: side.explained_by == "partners")
LEAST_REST = 50  # content words of either document by which the rest of it can be judged
LABELS = {side.name: side.label for side in BY_NAME.values()}


class PairComparison:
    """Two encodings as the sides read them: the second is the only candidate."""

    def __init__(
        self,
        query: WeighedDocument,
        candidate: WeighedDocument,
        rarity: Rarity,
        partners: BothPartners | None = None,
    ) -> None:
        self.weighed, self._known_partners = (query, candidate), partners
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
    def partners(self) -> BothPartners:
        """The best partner of each sentence of the query, and of each sentence of the candidate."""
        if self._known_partners is not None:
            return self._known_partners
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
        return np.array([partners_score(self.partners)])

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
    parts: dict[str, float]  # each side's share of the evidence
    score: float
    probability: float  # that the two belong together

    @staticmethod
    def of(a: Encoding, b: Encoding, statistics: Statistics, rarity: Rarity | None = None) -> "Explanation":
        """Compare two encodings; without the rarity of a collection, their words are weighed by the background text."""
        comparison = PairComparison.of(a, b, rarity or Rarity.of([a, b], statistics))
        values = similarities(comparison, comparison.rarity.sides(statistics))
        judged = comparison.rarity.judge(values, a.words, np.array([b.words]), statistics)
        return Explanation.of_each([comparison], statistics, values, *judged)[0]

    @staticmethod
    def of_each(
        comparisons: Sequence[PairComparison],
        statistics: Statistics,
        values: Mapping[str, Floats],
        scores: Floats,
        probabilities: Floats,
    ) -> "list[Explanation]":
        """Of comparisons by one rarity, whose similarities are known already; arrays have an entry per comparison."""
        calibration = comparisons[0].rarity.calibration(statistics)
        counted = {name: values[name] for name in calibration.sides}
        shares = {name: share.tolist() for name, share in calibration.shares(counted).items()}
        return [
            Explanation(
                comparison,
                statistics,
                {name: x[i : i + 1] for name, x in counted.items()},
                {name: share[i] for name, share in shares.items()},
                float(scores[i]),
                float(probabilities[i]),
            )
            for i, comparison in enumerate(comparisons)
        ]

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
    def _sentences(self) -> "SentenceEvidence":
        return sentence_evidence([self])[0]

    def match(self, model: str, is_question: bool = False) -> Match:
        """The result a user sees; a question belongs with nothing."""
        why_not = "question" if is_question else self.no_verdict
        return Match(
            a=self.a.document,
            b=self.b.document,
            score=self.score,
            sections=self.grid("sections"),
            alignments=self.alignments(),
            model=model,
            probability=None if why_not else self.probability,
            why_not=why_not or "model",
            parts=self.parts,
            labels=LABELS,
            terms=self.terms(),
            names=self.names(),
            grids=self.grid,
            measured=True,
            judge_rest=self.probability_outside,
        )

    @property
    def no_verdict(self) -> NoVerdict | None:
        """Why the probability cannot be believed; None where it can."""
        a, b = (Language.of(each, self.statistics.terms) for each in (self.a, self.b))
        words = self.a.words, np.array([self.b.words])
        doubt = float(self.rarity.doubts(self.similarities, *words, self.statistics)[0])
        return no_verdict(a, b, self.rarity, float(self.similarities.get("phrases", np.zeros(1))[0]), doubt)

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
        return self.aligned_by(self._sentences, most)

    def aligned_by(self, found: "SentenceEvidence", most: int | None = None) -> tuple[Alignment, ...]:
        """The same by what is known of the sentences already."""
        a, b = self.a.sentences, self.b.sentences
        said = PassageEvidence(
            self.a,
            self.b,
            self.rarity,
            self.statistics.terms,
            self.comparison.partners,
            found.distinctive,
            found.shared.kinds[0],
        )
        pairs = said.weigh(merge(*self._evidence(found), also=said.paraphrases))
        return alignments(
            pairs,
            (a.passage, b.passage),
            said.similarities,
            said.shared_words,
            None if most is None else readable_pairs(pairs, (a.shown, b.shown), most),
        )

    def _evidence(self, found: "SentenceEvidence") -> Iterator[list[Evidence]]:
        """What the sentences of each document contribute; a term's share is halved, as both documents hold it."""
        above = [
            partners.corrected.clip(min=0).astype(np.float64) * distinctive
            for partners, distinctive in zip(self.comparison.partners, found.distinctive, strict=True)
        ]
        total = sum(float(mass.mean()) for mass in above) or 1.0
        share = sum(self.parts.get(name, 0.0) for name in BY_PARTNERS)
        directions = found.shared.forward, found.shared.backward
        for partners, mass, links in zip(self.comparison.partners, above, directions, strict=True):
            nearest = partners.index
            linked = np.where(links.partner >= 0, links.partner, nearest)
            semantic = share * mass / (len(mass) * total)
            yield [Evidence(nearest, semantic), Evidence(linked, links.mass / 2, lexical=True)]

    def terms(self) -> tuple[Term, ...]:
        """The words and phrases that carry most of the lexical evidence and say something by themselves."""
        kinds = zip(KINDS, self._sentences.shared.kinds, strict=True)
        weighed = [Shared(shared.ids, shared.mass * self.parts.get(kind, 0.0)) for kind, shared in kinds]
        return key_terms(weighed, self.a.terms.words, self.a.sentences, self.statistics.terms)

    def names(self) -> tuple[str, ...]:
        """The rarest of the documents that both mention, where mentions count."""
        return self.comparison.mentions.spelled() if "named" in self.similarities else ()


@dataclass(frozen=True)
class SentenceEvidence:
    """What the sentences of two documents share, and which of each have more than boilerplate."""

    shared: SharedTerms
    distinctive: tuple[Flags, Flags]


def sentence_evidence(explanations: Sequence[Explanation]) -> list[SentenceEvidence]:
    """The evidence in the sentences of a document and of each that it was compared with, looked for in all at once."""
    query, rarity = explanations[0].comparison.weighed[0], explanations[0].rarity
    others = Terms.cat([explanation.b.terms for explanation in explanations])
    offsets = offsets_of(np.array([len(explanation.b) for explanation in explanations], dtype=np.int64))
    worth = np.array([[explanation.parts.get(kind, 0.0) for kind in KINDS] for explanation in explanations])
    shared = link_sentences(query.rated, [others.of(kind) for kind in KINDS], offsets, worth)
    distinctive = np.split(distinctive_sentences(others, offsets, rarity), offsets[1:-1])
    return [
        SentenceEvidence(terms, (query.distinctive, flags)) for terms, flags in zip(shared, distinctive, strict=True)
    ]


def aligned_passages(explanations: Sequence[Explanation], most: int) -> list[tuple[Alignment, ...]]:
    """The `most` passages to show of one document and of each that it was compared with."""
    found = sentence_evidence(explanations)
    return [explanation.aligned_by(one, most) for explanation, one in zip(explanations, found, strict=True)]


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
