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

from longmatch.default.calibration import IN_LIKENESS
from longmatch.default.collection import Collection
from longmatch.default.comparison import Comparison, Query, WeighedDocument, distinctive_sentences
from longmatch.default.encoding import Encoding
from longmatch.default.evidence import PassageEvidence, sentence_pair_scores, shared_mentions
from longmatch.default.rarity import Language, Rarity, no_verdict
from longmatch.default.sides import BY_NAME, named, similarities
from longmatch.default.statistics import Statistics
from longmatch.lexical.key_terms import key_terms
from longmatch.lexical.links import Shared, SharedTerms, group_cosines, link_sentences
from longmatch.lexical.terms import KINDS, Flags, Terms
from longmatch.matching.align import Evidence, alignments, merge, readable_pairs
from longmatch.matching.levels import BothPartners, SentenceVectors, best_partners, group_scores, partners_score
from longmatch.matching.match import Alignment, Grid, Level, Match, Term
from longmatch.matching.wording import NoVerdict
from longmatch.ragged import Floats, as_numbers, offsets_of, segment_ids
from longmatch.reuse.reuse import Reuse

BY_PARTNERS = named(lambda side: side.explained_by == "partners")
LEAST_REST = 50  # content words of either document by which the rest of it can be judged


class LonePair(Collection):
    """A single candidate, whose sentences are compared in bounded memory and only once."""

    partners: BothPartners | None = None

    def sentence_scores(self, query: SentenceVectors) -> Floats:
        """The mean over the best partners of both directions."""
        self.partners = best_partners(query, self.encodings[0].sentence_vectors)
        return np.array([partners_score(self.partners)])


@dataclass(frozen=True)
class Explanation:
    """Two documents compared: the similarity on each side that counts, and what it is made of."""

    first: WeighedDocument
    second: WeighedDocument
    rarity: Rarity
    similarities: dict[str, Floats]  # by side
    parts: dict[str, float]  # each side's share of the evidence
    score: float
    probability: float  # that the two belong together
    known_partners: BothPartners | None = None  # where their sentences were compared for the score

    @staticmethod
    def of(a: Encoding, b: Encoding, rarity: Rarity) -> "Explanation":
        """Compare two encodings, their words weighed by a collection, or by the background text: `Rarity.of` both."""
        first, pair = WeighedDocument(a, rarity), LonePair([b], rarity)
        values = similarities(Comparison(Query.of(first), pair), rarity.sides)
        judged = rarity.judge(values, a.words, pair.lengths)
        return explain_each(first, [WeighedDocument(b, rarity)], rarity, values, *judged, [pair.partners])[0]

    @property
    def a(self) -> Encoding:
        """The first document."""
        return self.first.encoding

    @property
    def b(self) -> Encoding:
        """The second document."""
        return self.second.encoding

    @cached_property
    def partners(self) -> BothPartners:
        """The best partner of each sentence of the first document, and of each of the second."""
        return self.known_partners or best_partners(self.a.sentence_vectors, self.b.sentence_vectors)

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
            labels=labels(),
            terms=self.terms(),
            names=self.names(),
            grids=self.grid,
            measured=True,
            judge_rest=self.probability_outside,
        )

    @property
    def no_verdict(self) -> NoVerdict | None:
        """Why the probability cannot be believed; None where it can."""
        a, b = (Language.of(each, self.rarity.statistics.terms) for each in (self.a, self.b))
        doubt = float(self.rarity.doubts(self.similarities, self.a.words, np.array([self.b.words]))[0])
        return no_verdict(a, b, self.rarity, float(self.similarities.get("phrases", np.zeros(1))[0]), doubt)

    def probability_outside(self, reuse: Reuse) -> float | None:
        """The probability by what stands outside of the passages that both have; None where too little does."""
        a = self.a.outside(passage.a for passage in reuse.passages)
        b = self.b.outside(passage.b for passage in reuse.passages)
        return Explanation.of(a, b, self.rarity).probability if min(a.words, b.words) >= LEAST_REST else None

    def grid(self, level: Level) -> Grid:
        """How alike every group of one document and every group of the other are."""
        return likeness_grid(self.a, self.b, level, self.rarity)

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
            self.rarity.statistics.terms,
            self.partners,
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
            for partners, distinctive in zip(self.partners, found.distinctive, strict=True)
        ]
        total = sum(float(mass.mean()) for mass in above) or 1.0
        share = sum(self.parts.get(name, 0.0) for name in BY_PARTNERS)
        directions = found.shared.forward, found.shared.backward
        for partners, mass, links in zip(self.partners, above, directions, strict=True):
            nearest = partners.index
            linked = np.where(links.partner >= 0, links.partner, nearest)
            semantic = share * mass / (len(mass) * total)
            yield [Evidence(nearest, semantic), Evidence(linked, links.mass / 2, lexical=True)]

    def terms(self) -> tuple[Term, ...]:
        """The words and phrases that carry most of the lexical evidence and say something by themselves."""
        kinds = zip(KINDS, self._sentences.shared.kinds, strict=True)
        weighed = [Shared(shared.ids, shared.mass * self.parts.get(kind, 0.0)) for kind, shared in kinds]
        return key_terms(weighed, self.a.terms.words, self.a.sentences, self.rarity.statistics.terms)

    def names(self) -> tuple[str, ...]:
        """The rarest of the documents that both mention, where mentions count."""
        return shared_mentions(self.a, self.b, self.rarity) if "named" in self.similarities else ()


def explain_each(
    query: WeighedDocument,
    candidates: Sequence[WeighedDocument],
    rarity: Rarity,
    values: Mapping[str, Floats],
    scores: Floats,
    probabilities: Floats,
    partners: Sequence[BothPartners | None],
) -> list[Explanation]:
    """A document compared with several, by similarities that are known; arrays have an entry per candidate."""
    counted = {name: values[name] for name in rarity.calibration.sides}
    shares = {name: share.tolist() for name, share in rarity.calibration.shares(counted).items()}
    return [
        Explanation(
            query,
            candidate,
            rarity,
            {name: x[i : i + 1] for name, x in counted.items()},
            {name: share[i] for name, share in shares.items()},
            float(scores[i]),
            float(probabilities[i]),
            partners[i],
        )
        for i, candidate in enumerate(candidates)
    ]


@dataclass(frozen=True)
class SentenceEvidence:
    """What the sentences of two documents share, and which of each have more than boilerplate."""

    shared: SharedTerms
    distinctive: tuple[Flags, Flags]


def sentence_evidence(explanations: Sequence[Explanation]) -> list[SentenceEvidence]:
    """The evidence in the sentences of a document and of each that it was compared with, looked for in all at once."""
    query, rarity = explanations[0].first, explanations[0].rarity
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
        sections=likeness_grid(encoding, encoding, level, rarity),
        alignments=alignments(
            merge([forward], [backward]),
            (sentences.passage, sentences.passage),
            lambda i, j: sentence_pair_scores(encoding, encoding, i, j),
            lambda i, j: (),
        ),
        model=model,
        parts={"meaning": 1.0},
        labels=labels(),
        grids=lambda chosen: likeness_grid(encoding, encoding, chosen, rarity),
    )


def labels() -> dict[str, str]:
    """The sides as people call them, by name."""
    return {side.name: side.label for side in BY_NAME.values()}


def likeness_grid(a: Encoding, b: Encoding, level: Level, rarity: Rarity) -> Grid:
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
    sides = {name: compute[name]() for name in rarity.calibration.sides if name in IN_LIKENESS}
    scores = rarity.calibration.likeness(sides).astype(np.float32)
    return Grid(rows.labels, columns.labels, rows.spans, columns.spans, scores)
