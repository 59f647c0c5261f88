"""How rare words, phrases and titles are in a collection, and how far its language and its titles can be trusted."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from longmatch.default.boilerplate import Boilerplate
from longmatch.default.calibration import NEEDS_LANGUAGE, NEEDS_TITLES, Calibration
from longmatch.default.encoding import Encoding
from longmatch.default.sides import Floats
from longmatch.default.statistics import Statistics
from longmatch.default.unrelated import USUAL_WORDS, Sample, Similarities, Unrelated, usual_length
from longmatch.lexical.background import TermBackground
from longmatch.lexical.frequencies import Blend, Frequencies, TermFrequencies
from longmatch.lexical.mentions import NO_TERM, TITLE_TERMS, Mentions, Titles, stack_titles
from longmatch.lexical.terms import Counts, Hashes, Ints, Kind, Stream

BACKGROUND_DOCUMENTS = 200.0  # of the collection that the background text counts for as a prior
LEAST_BACKGROUND = 1.0  # in an unknown language, so that what every sentence holds still weighs something
FAMILIARITY = (0.4, 0.8)  # share of known words up to which the language is foreign, from which it is known
PHRASE_POWER = (1.0, 3.0)  # of rarity in a foreign and in a known language: there rare phrases are quotations
SMALL_COLLECTION = 20  # documents: fewer cannot tell which words are common, nor which lengths are usual
KNOWN_RARITY = (0.77, 0.81)  # mean of running phrases, up to which the kind of a text is known, from which it may not
TITLED_COLLECTION = (50, 200)  # documents up to which one seldom cites another, from which they may
LITTLE_DOUBT = 0.1  # of a probability, by which it may be less if the documents are of a kind of their own
ORDINARY_TITLE = 0.3  # rarity below which a title's words stand in any text, whether or not it mentions the document
DESCRIPTIVE_TITLE = (1.5, 2.5)  # mean terms of a title up to which titles are names, from which they describe the text


@dataclass(frozen=True)
class Rarity:
    """Inverse document frequencies over a collection, and what it says about its language and titles."""

    words: Blend
    phrases: Blend
    familiarity: float  # share of the running words that the background text knows
    titles: Titles
    usual_words: float  # of a document; 0 where too few documents are known
    unrelated: Unrelated  # what unrelated documents of the collection have in common
    reads_english_alone: bool = True  # the backbone; else it is trusted with any language

    @staticmethod
    def of(encodings: Sequence[Encoding], statistics: Statistics) -> "Rarity":
        """From documents, with the background text as a prior as far as it knows their words."""
        familiarity, known = familiarity_of(encodings, statistics.terms)
        split = len(encodings) < SMALL_COLLECTION and known < 0.5  # then sentences stand in for documents
        words = Frequencies.of(c for e in encodings for c in _texts(e.terms.words, split))
        phrases = Frequencies.of(c for e in encodings for c in _texts(e.terms.phrases, split))
        return Rarity(
            blend("words", words, statistics, familiarity, known),
            blend("phrases", phrases, statistics, familiarity, known),
            familiarity,
            Titles.of(stack_titles([e.title_terms for e in encodings])),
            usual_words(np.array([e.words for e in encodings])),
            prior_of(encodings, statistics),
            statistics.reads_english_alone,
        )

    def idf(self, kind: Kind) -> Blend:
        """The rarity of words, or of phrases."""
        return self.words if kind == "words" else self.phrases

    @property
    def trust(self) -> tuple[float, float]:
        """How far the language is known and how descriptive titles are, each from 0 to 1."""
        return trust_in(self.familiarity, self.titles, self.reads_english_alone)

    @cached_property
    def boilerplate(self) -> Boilerplate:
        """The phrases that are common."""
        return Boilerplate(self.phrases)

    def calibration(self, statistics: Statistics) -> Calibration:
        """The shipped calibration, as far as it can be trusted here, counted from what unrelated documents share."""
        if id(statistics) not in self._calibrations:
            vocabulary = float(np.interp(self.familiarity, FAMILIARITY, (0, 1)))
            trusted = statistics.calibration.trusting(*self.trust, vocabulary).against(self.unrelated)
            self._calibrations[id(statistics)] = statistics, trusted
        return self._calibrations[id(statistics)][1]

    @cached_property
    def _calibrations(self) -> dict[int, tuple[Statistics, Calibration]]:
        """Those asked for, with the statistics they are made from: a question needs one for every hit."""
        return {}

    def sides(self, statistics: Statistics) -> tuple[str, ...]:
        """The sides that count here, in the score or in the probability."""
        counted = self.calibration(statistics).sides
        language, titles = self.trust
        idle = (NEEDS_LANGUAGE if not language else frozenset()) | (NEEDS_TITLES if not titles else frozenset())
        likely = (name for name in statistics.probability.sides if name not in idle)
        return tuple(dict.fromkeys([*counted, *likely]))

    def judge(
        self, similarities: Similarities, query_words: int, candidate_words: Ints, statistics: Statistics
    ) -> tuple[Floats, Floats]:
        """The score of a query with its candidates, and the probability that the two belong together."""
        calibration = self.calibration(statistics)
        return (
            calibration.score({name: similarities[name] for name in calibration.sides}),
            self.probability(similarities, query_words, candidate_words, statistics),
        )

    def probability(
        self, similarities: Similarities, query_words: int, candidate_words: Ints, statistics: Statistics
    ) -> Floats:
        """The probability that a query and each of its candidates belong together."""
        words = np.full(len(candidate_words), float(query_words)), candidate_words.astype(np.float64)
        return statistics.probability.of(similarities, words, self.unrelated, self.trust)

    def doubts(
        self, similarities: Similarities, query_words: int, candidate_words: Ints, statistics: Statistics
    ) -> Floats:
        """By how much each probability would be higher, were it certain that the documents' kind is known."""
        if not self.unrelated.doubt:
            return np.zeros(len(candidate_words))
        likely, surely = (
            rarity.probability(similarities, query_words, candidate_words, statistics)
            for rarity in (self, replace(self, unrelated=self.unrelated.if_known))
        )
        return surely - likely

    def of_mentions(self, mentions: Mentions) -> Floats:
        """The rarity of each title from 0 to 1: that of its rarest term.

        It is 0 for a title that several documents have, and for one that is an ordinary word of a letter: "Received".
        """
        terms = mentions.terms.ravel()
        idf = np.minimum(self.words.idf(terms), self.phrases.idf(terms) ** (1 / phrase_power(self.familiarity)))
        most = self.words.idf(np.array([NO_TERM], dtype=np.uint64))[0]  # of a term that nothing has
        rarest = idf.reshape(-1, TITLE_TERMS).max(axis=1)
        rarity = np.clip(rarest / most, 0, 1)
        several = mentions.documents > 1  # a title that several documents have says what kind they are of: "Report"
        return np.where(several | (rarity < ORDINARY_TITLE), 0.0, rarity)


def blend(kind: Kind, frequencies: TermFrequencies, statistics: Statistics, familiarity: float, known: float) -> Blend:
    """A collection's document frequencies with the background's as a prior, as far as it has the collection's words.

    In a language that the backbone knows, rare phrases count by a power of their rarity, and the rarity of words ends
    at one in BACKGROUND_DOCUMENTS: names and misspellings that a large collection has once would outweigh all else.
    """
    worth = max(LEAST_BACKGROUND, BACKGROUND_DOCUMENTS * known)
    power = phrase_power(familiarity) if kind == "phrases" else 1.0
    documents = frequencies.documents + worth
    least = BACKGROUND_DOCUMENTS if kind == "words" else documents
    scale = float(np.interp(familiarity, FAMILIARITY, (documents, least)))
    return Blend(frequencies, statistics.terms.frequencies(kind), worth, power, scale)


def phrase_power(familiarity: float) -> float:
    """The power of a phrase's rarity, by the share of the words that are known.

    >>> phrase_power(0.1), phrase_power(0.95)
    (1.0, 3.0)
    """
    return float(np.interp(familiarity, FAMILIARITY, PHRASE_POWER))


def trust_in(familiarity: float, titles: Titles, reads_english_alone: bool = True) -> tuple[float, float]:
    """How far the language of documents is known, by the share of their words that are, and how descriptive titles are.

    Titles of one or two words are names; longer ones say what a text is about, and in a large collection documents
    cite each other. What titles are worth was learnt in known languages, so it counts in those. A backbone that reads
    other languages than English was chosen for the documents, and is trusted with theirs.
    """
    language = float(np.interp(familiarity, FAMILIARITY, (0, 1)))
    descriptive = np.interp(titles.mean_terms, DESCRIPTIVE_TITLE, (0, 1))
    known = language if reads_english_alone else 1.0
    return known, language * float(descriptive * np.interp(len(titles), TITLED_COLLECTION, (0, 1)))


def usual_words(words: Ints) -> float:
    """The mean number of words of documents; 0 for a small collection, which cannot tell what is usual."""
    return float(words.mean()) if len(words) >= SMALL_COLLECTION else 0.0


def familiarity_of(encodings: Sequence[Encoding], background: TermBackground) -> tuple[float, float]:
    """The share of the running words that are of a language the backbone knows, and that the background text has."""
    counts = [encoding.terms.words.counts for encoding in encodings]
    total = sum(int(c.counts.sum()) for c in counts)
    if not total:
        return 1.0, 1.0
    familiar = sum(int(c.counts[background.familiar(c.ids)].sum()) for c in counts)
    return familiar / total, sum(map(background.known_words, counts)) / total


def knowledge_of(encodings: Sequence[Encoding], background: TermBackground) -> float:
    """How far the wording of some documents is known: from 0, as general prose, to 1.

    The phrases of documents of a known kind are common in that kind of text.
    """
    rarities = [running_rarity(encoding.terms.phrases.counts, background.phrases) for encoding in encodings]
    return float(np.interp(np.mean(rarities) if rarities else 0.0, KNOWN_RARITY, (1.0, 0.0)))


def prior_of(encodings: Sequence[Encoding], statistics: Statistics) -> Unrelated:
    """What unrelated documents of this kind and length have in common, without a collection that tells."""
    words = usual_length(np.array([encoding.words for encoding in encodings], dtype=np.float64))
    return unrelated_like(encodings, statistics, words=words)


def unrelated_like(
    encodings: Sequence[Encoding], statistics: Statistics, sample: Sample | None = None, words: float = USUAL_WORDS
) -> Unrelated:
    """What unrelated documents like these have in common, by what is known of them and by a sample of their pairs."""
    return statistics.prior.unrelated(
        knowledge_of(encodings, statistics.terms),
        sample,
        words,
        vocabulary_of(encodings, statistics.terms),
        statistics.kinds.known([encoding.terms.words.counts for encoding in encodings]),
    )


def vocabulary_of(encodings: Sequence[Encoding], background: TermBackground) -> float:
    """How far the background text has the words of some documents, from 0 to 1."""
    return float(np.interp(familiarity_of(encodings, background)[1], FAMILIARITY, (0, 1)))


def running_rarity(counts: Counts, background: Frequencies) -> float:
    """The mean rarity of the running terms of a document, from 0 to 1."""
    rarity = np.log((1 + BACKGROUND_DOCUMENTS) / (1 + BACKGROUND_DOCUMENTS * background.share(counts.ids)))
    total = float(counts.counts.sum())
    return float(counts.counts @ rarity) / total / float(np.log(1 + BACKGROUND_DOCUMENTS)) if total else 0.0


def _texts(stream: Stream, split: bool) -> list[Counts]:
    return stream.sentence_counts() if split else [stream.counts]


def mentions_of(terms: Hashes, own_title: Hashes, rarity: Rarity) -> Mentions:
    """The titles of the collection, and the document's own, that its sorted terms mention."""
    return rarity.titles.mentioned(terms, stack_titles([own_title]))
