"""What a collection says about its documents: how rare terms are, how far its language, kind and titles can be trusted.

With the shipped statistics that makes a score and a probability of the similarities of two documents.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from longmatch.default.calibration import Calibration
from longmatch.default.encoding import Encoding
from longmatch.default.sides import named
from longmatch.default.space import Space
from longmatch.default.statistics import Statistics
from longmatch.default.term_rarity import BACKGROUND_DOCUMENTS, FAMILIARITY, TermRarity, blend
from longmatch.default.unrelated import ONE_TEXT, Known, Similarities, Unrelated, usual_length
from longmatch.lexical.mentions import Titles, stack_titles
from longmatch.lexical.terms import KINDS, Counts, Hashes, Ints, Kind
from longmatch.lexical.weights import Frequencies, TermBackground, TermFrequencies
from longmatch.matching.wording import NoVerdict
from longmatch.ragged import Floats

SMALL_COLLECTION = 20  # documents: fewer cannot tell which words are common, nor which lengths are usual
KNOWN_RARITY = (0.77, 0.81)  # mean of running phrases, up to which the kind of a text is known, from which it may not
TITLED_COLLECTION = (50, 200)  # documents up to which one seldom cites another, from which they may
LITTLE_DOUBT = 0.1  # of a probability, by which it may be less if the documents are of a kind of their own
DESCRIPTIVE_TITLE = (1.5, 2.5)  # mean terms of a title up to which titles are names, from which they describe the text
QUESTION_WORDS = 40  # of a text from outside, up to which it is a question: the probability is learnt from documents
KNOWN_LANGUAGE = 0.75  # share of running words in the background text: English and Chinese have nearly all, others half


@dataclass(frozen=True)
class RunningWords:
    """The numbers of running words of documents, and of those that the background text has."""

    lengths: Ints
    familiar: Ints  # in a language that the backbone knows
    known: Ints

    @staticmethod
    def of(documents: Sequence[Counts], background: TermBackground) -> "RunningWords":
        """From documents' words."""
        ids = np.concatenate([np.empty(0, np.uint64), *(c.ids for c in documents)])
        counts = np.concatenate([np.empty(0, np.int64), *(c.counts for c in documents)])
        home = np.repeat(np.arange(len(documents)), [len(c.ids) for c in documents])
        known = background.known(ids)
        flags = np.ones(len(ids)), known & ~np.isin(ids, background.foreign), known
        return RunningWords(*(np.bincount(home, counts * flag, len(documents)).astype(np.int64) for flag in flags))

    @cached_property
    def shares(self) -> tuple[float, float]:
        """The share that is of a language the backbone knows, and that the background text has."""
        total = int(self.lengths.sum())
        return (float(self.familiar.sum() / total), float(self.known.sum() / total)) if total else (1.0, 1.0)


@dataclass(frozen=True)
class Rarity(TermRarity):
    """Inverse document frequencies over a collection, and how its similarities are weighed."""

    statistics: Statistics
    unrelated: Unrelated  # what unrelated documents of the collection have in common

    @staticmethod
    def counted(
        frequencies: Mapping[Kind, TermFrequencies],
        words: RunningWords,
        titles: Hashes,
        statistics: Statistics,
        unrelated: Unrelated,
        space: Space,
    ) -> "Rarity":
        """From what is counted of documents, with the background text as a prior as far as it knows their words.

        `titles` are the terms of each document's title: (documents, TITLE_TERMS).
        """
        usual = float(words.lengths.mean()) if len(words.lengths) >= SMALL_COLLECTION else 0.0
        return Rarity(
            blend("words", frequencies["words"], statistics.terms, *words.shares),
            blend("phrases", frequencies["phrases"], statistics.terms, *words.shares),
            words.shares[0],
            Titles.of(titles),
            usual,
            statistics.reads_english_alone,
            space,
            statistics,
            unrelated,
        )

    @staticmethod
    def of(encodings: Sequence[Encoding], statistics: Statistics) -> "Rarity":
        """From documents alone: what random pairs of them share is not looked at."""
        words = RunningWords.of([e.terms.words.counts for e in encodings], statistics.terms)
        split = len(encodings) < SMALL_COLLECTION and words.shares[1] < 0.5  # then sentences stand in for documents
        frequencies = {
            kind: Frequencies.of(
                counts
                for stream in (e.terms.of(kind) for e in encodings)
                for counts in (stream.sentence_counts() if split else [stream.counts])
            )
            for kind in KINDS
        }
        titles = stack_titles([e.title_terms for e in encodings])
        space = Space.of(np.stack([e.vector for e in encodings]), statistics.space)
        return Rarity.counted(frequencies, words, titles, statistics, prior_of(encodings, statistics), space)

    @cached_property
    def trust(self) -> tuple[float, float]:
        """How far the language of the documents is known, and how descriptive their titles are, each from 0 to 1.

        Titles of one or two words are names; longer ones say what a text is about, and in a large collection documents
        cite each other. What titles are worth was learnt in known languages, so it counts in those. A backbone that
        reads other languages than English was chosen for the documents, and is trusted with theirs.
        """
        language = float(np.interp(self.familiarity, FAMILIARITY, (0, 1)))
        descriptive = float(np.interp(self.titles.mean_terms, DESCRIPTIVE_TITLE, (0, 1)))
        titled = float(np.interp(len(self.titles), TITLED_COLLECTION, (0, 1)))
        return language if self.reads_english_alone else 1.0, language * descriptive * titled

    @cached_property
    def calibration(self) -> Calibration:
        """The shipped calibration, as far as it can be trusted here, counted from what unrelated documents share."""
        vocabulary = float(np.interp(self.familiarity, FAMILIARITY, (0, 1)))
        return self.statistics.calibration.trusting(*self.trust, vocabulary).against(self.unrelated)

    @cached_property
    def sides(self) -> tuple[str, ...]:
        """The sides that count here, in the score or in the probability."""
        language, titles = self.trust
        idle = named(lambda side: (side.needs_language and not language) or (side.needs_titles and not titles))
        likely = [name for name in self.statistics.probability.sides if name not in idle]
        return tuple(dict.fromkeys([*self.calibration.sides, *likely]))

    def judge(self, similarities: Similarities, query_words: int, candidate_words: Ints) -> tuple[Floats, Floats]:
        """The score of a query with its candidates, and the probability that the two belong together."""
        score = self.calibration.score({name: similarities[name] for name in self.calibration.sides})
        return score, self.probability(similarities, query_words, candidate_words)

    def probability(self, similarities: Similarities, query_words: int, candidate_words: Ints) -> Floats:
        """The probability that a query and each of its candidates belong together."""
        words = np.full(len(candidate_words), float(query_words)), candidate_words.astype(np.float64)
        return self.statistics.probability.of(similarities, words, self.unrelated, self.trust)

    def doubts(self, similarities: Similarities, query_words: int, candidate_words: Ints) -> Floats:
        """By how much each probability would be higher, were it certain that the documents' kind is known."""
        if not self.unrelated.doubt:
            return np.zeros(len(candidate_words))
        known = replace(self, unrelated=replace(self.unrelated, doubt=0.0))
        arguments = similarities, query_words, candidate_words
        return known.probability(*arguments) - self.probability(*arguments)


def prior_of(encodings: Sequence[Encoding], statistics: Statistics) -> Unrelated:
    """What unrelated documents of this kind and length have in common, without a collection that tells."""
    words = usual_length(np.array([encoding.words for encoding in encodings], dtype=np.float64))
    return statistics.prior.unrelated(known_of(encodings, statistics), words=words)


def known_of(encodings: Sequence[Encoding], statistics: Statistics) -> Known:
    """How far the wording, the vocabulary and the kind of some documents are known.

    The phrases of documents of a known kind are common in that kind of text.
    """
    words = [encoding.terms.words.counts for encoding in encodings]
    rarities = [running_rarity(encoding.terms.phrases.counts, statistics.terms.phrases) for encoding in encodings]
    wording = float(np.interp(np.mean(rarities) if rarities else 0.0, KNOWN_RARITY, (1.0, 0.0)))
    vocabulary = float(np.interp(RunningWords.of(words, statistics.terms).shares[1], FAMILIARITY, (0, 1)))
    return Known(wording, vocabulary, statistics.kinds.known(words))


def running_rarity(counts: Counts, background: Frequencies) -> float:
    """The mean rarity of the running terms of a document, from 0 to 1."""
    rarity = np.log((1 + BACKGROUND_DOCUMENTS) / (1 + BACKGROUND_DOCUMENTS * background.share(counts.ids)))
    total = float(counts.counts.sum())
    return float(counts.counts @ rarity) / total / float(np.log(1 + BACKGROUND_DOCUMENTS)) if total else 0.0


class Language(NamedTuple):
    """The language of a document by its code, and whether the background text has it."""

    code: str
    known: bool

    @staticmethod
    def of(encodings: Sequence[Encoding], background: TermBackground) -> "list[Language]":
        """Those of documents that are encoded."""
        words = RunningWords.of([encoding.terms.words.counts for encoding in encodings], background)
        counted = zip(encodings, words.known.tolist(), words.lengths.tolist(), strict=True)
        return [Language.by_words(encoding.document.language, known, count) for encoding, known, count in counted]

    @staticmethod
    def by_words(code: str, known: int, words: int) -> "Language":
        """By how many of a document's running words the background text has."""
        return Language(code, known >= KNOWN_LANGUAGE * words)


def no_verdict(
    a: Language, b: Language, rarity: Rarity, phrases: float = 0.0, doubt: float | None = None
) -> NoVerdict | None:
    """Why there is no probability for two documents, by the terms of a collection; None where there is one.

    `phrases` is the similarity of theirs: versions of one text belong together whatever their kind. `doubt` is by how
    much their probability may be less; without it, by how much any in the collection may be.
    """
    if rarity.reads_english_alone and a.code != b.code:
        return "languages"
    if not (a.known and b.known):
        return "language"
    possible = rarity.unrelated.doubt if doubt is None else doubt
    if rarity.unrelated.ignorance <= LITTLE_DOUBT and possible <= LITTLE_DOUBT:
        return None
    return None if phrases >= ONE_TEXT else "kind"
