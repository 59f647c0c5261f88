"""Why two documents match: the sides of the score taken apart into sections and aligned passages.

A pair's similarity by words, phrases and meaning is a sum over sentences. So the contribution of a passage is exact
arithmetic, not an estimate: its share of the side's similarity, times the side's share of the evidence. A sentence's
share of the meaning goes to its best partner, its share of the shared words and phrases to the sentence that shares
most of them. Topic, titles and references belong to whole documents: `parts` gives their shares, no passage has any.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from longmatch.default.calibration import Scale
from longmatch.default.collection import Collection
from longmatch.default.comparison import Comparison, Query, WeighedDocument, distinctive_sentences
from longmatch.default.encoding import Encoding
from longmatch.default.evidence import (
    SentenceEvidence,
    align_passages,
    says_nothing,
    sentence_pair_scores,
    shared_mentions,
)
from longmatch.default.rarity import Language, Rarity, no_verdict
from longmatch.default.sides import labels, named, similarities
from longmatch.default.statistics import Statistics
from longmatch.lexical.key_terms import key_terms
from longmatch.lexical.links import Shared, group_cosines, link_sentences
from longmatch.lexical.terms import KINDS, Terms, lookup
from longmatch.matching.align import Evidence, alignments, merge
from longmatch.matching.hits import Reasons
from longmatch.matching.levels import BothPartners, best_partners, group_scores
from longmatch.matching.match import Alignment, Grid, Level, Match, Term
from longmatch.matching.wording import NoVerdict
from longmatch.ragged import Floats, as_numbers, offsets_of, segment_ids
from longmatch.reuse.reuse import Reuse

PARTNERS = 0.2, 0.02  # floor, and chance: the sentence score of groups that have nothing to do with each other
LEAST_REST = 50  # content words of either document by which the rest of it can be judged


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
    no_verdict: NoVerdict | None  # why the probability cannot be believed; None where it can

    @staticmethod
    def of(a: Encoding, b: Encoding, rarity: Rarity) -> "Explanation":
        """Compare two encodings, their words weighed by a collection, or by the background text: `Rarity.of` both."""
        return compare_each(a, [b], rarity)[0]

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
        return best_partners(self.a.sentence_vectors, self.b.sentence_vectors)

    @cached_property
    def sentences(self) -> SentenceEvidence:
        """What the sentences of the two share."""
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
            names=shared_mentions(self.a, self.b, self.rarity) if "named" in self.similarities else (),
            grids=self.grid,
            measured=True,
            judge_rest=self.probability_outside,
        )

    def terms(self) -> tuple[Term, ...]:
        """The words and phrases that carry most of the lexical evidence and say something by themselves."""
        kinds = zip(KINDS, self.sentences.shared.kinds, strict=True)
        weighed = [Shared(shared.ids, shared.mass * self.parts.get(kind, 0.0)) for kind, shared in kinds]
        return key_terms(weighed, self.a.terms.words, self.a.sentences, self.rarity.statistics.terms)

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
        return align_passages(self.a, self.b, self.rarity, self.parts, self.partners, self.sentences, most)


def compare_each(a: Encoding, others: Sequence[Encoding], rarity: Rarity) -> list[Explanation]:
    """A document compared with each of several."""
    query, candidates = WeighedDocument(a, rarity), Collection(others, rarity)
    values = similarities(Comparison(Query.of(query), candidates), rarity.sides)
    judged = rarity.judge(values, a.words, candidates.lengths)
    return explain_each(query, [WeighedDocument(b, rarity) for b in others], rarity, values, *judged)


def explain_each(
    query: WeighedDocument,
    candidates: Sequence[WeighedDocument],
    rarity: Rarity,
    values: Mapping[str, Floats],
    scores: Floats,
    probabilities: Floats,
) -> list[Explanation]:
    """A document compared with several, by similarities that are known; arrays have an entry per candidate."""
    counted = {name: values[name] for name in rarity.calibration.sides}
    shares = {name: share.tolist() for name, share in rarity.calibration.shares(counted).items()}
    phrases = values["phrases"].tolist() if "phrases" in values else [0.0] * len(candidates)
    words = np.array([candidate.encoding.words for candidate in candidates], dtype=np.int64)
    doubts = rarity.doubts(values, query.encoding.words, words).tolist()
    mine, *theirs = Language.of([each.encoding for each in (query, *candidates)], rarity.statistics.terms)
    return [
        Explanation(
            query,
            candidate,
            rarity,
            {name: x[i : i + 1] for name, x in counted.items()},
            {name: share[i] for name, share in shares.items()},
            float(scores[i]),
            float(probabilities[i]),
            no_verdict(mine, theirs[i], rarity, phrases[i], doubts[i]),
        )
        for i, candidate in enumerate(candidates)
    ]


def sentence_evidence(explanations: Sequence[Explanation]) -> list[SentenceEvidence]:
    """The evidence in the sentences of a document and of each that it was compared with, looked for in all at once."""
    query, rarity = explanations[0].first, explanations[0].rarity
    others = Terms.cat([explanation.b.terms for explanation in explanations])
    offsets = offsets_of(np.array([len(explanation.b) for explanation in explanations], dtype=np.int64))
    worth = np.array([[explanation.parts.get(kind, 0.0) for kind in KINDS] for explanation in explanations])
    shared = link_sentences(query.rated, [others.of(kind) for kind in KINDS], offsets, worth)
    distinctive = np.split(distinctive_sentences(others, offsets, rarity), offsets[1:-1])
    words = query.encoding.terms.words.counts.ids
    telling = words[~says_nothing(words, rarity, query.encoding.document.language)]
    found = []
    for terms, flags in zip(shared, distinctive, strict=True):
        kept = lookup(telling, terms.kinds[0].ids)[1]
        content = Shared(terms.kinds[0].ids[kept], terms.kinds[0].mass[kept])
        found.append(SentenceEvidence(terms, content, (query.distinctive, flags)))
    return found


def explain_hits(explanations: Sequence[Explanation], most: int, is_question: Sequence[bool]) -> list[Reasons]:
    """The `most` passages to show of one document and of each that it was compared with, and the probabilities."""
    if not explanations:
        return []
    hits = []
    for each, found, question in zip(explanations, sentence_evidence(explanations), is_question, strict=True):
        passages = align_passages(each.a, each.b, each.rarity, each.parts, each.partners, found, most)
        why_not = "question" if question else each.no_verdict
        hits.append(Reasons(passages, None if why_not else each.probability, why_not or "model"))
    return hits


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
            (sentences, sentences),
            lambda i, j: sentence_pair_scores(encoding, encoding, i, j),
        ),
        model=model,
        parts={"meaning": 1.0},
        labels=labels(),
        grids=lambda chosen: likeness_grid(encoding, encoding, chosen, rarity),
    )


def likeness_grid(a: Encoding, b: Encoding, level: Level, rarity: Rarity) -> Grid:
    """How alike every group of a and every group of b are, by words and meaning.

    It is their likeness, not a probability: that was learnt from whole documents, and so was what titles are worth. The
    meaning of a group of few sentences is compared sentence by sentence: each with its best partner.
    """
    rows, columns = a.sentences.groups(level), b.sentences.groups(level)
    counted = named(lambda side: side.in_likeness).intersection(rarity.calibration.sides)
    sides: dict[str, Floats] = {}
    if "words" in counted:
        sides["words"] = group_cosines(a.terms.words, b.terms.words, rows, columns, rarity.words)
    if "meaning" in counted:
        vectors = a.sentence_vectors, b.sentence_vectors
        sides["meaning"] = as_numbers(group_scores(*vectors, rows.offsets, columns.offsets))
    calibration = rarity.calibration
    partners = Scale(calibration.scales["meaning"].weight, *PARTNERS)
    scores = replace(calibration, scales={**calibration.scales, "meaning": partners}).likeness(sides)
    return Grid(rows.labels, columns.labels, rows.spans, columns.spans, scores.astype(np.float32))
