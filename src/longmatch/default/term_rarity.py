"""How rare the words, phrases and titles of a collection are, with background text as a prior."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from longmatch.default.space import Space
from longmatch.lexical.mentions import NO_TERM, TITLE_TERMS, Mentions, Titles
from longmatch.lexical.terms import Hashes, Ints, Kind, TermTable
from longmatch.lexical.weights import Blend, TermBackground, TermFrequencies
from longmatch.ragged import Floats

BACKGROUND_DOCUMENTS = 200.0  # of the collection that the background text counts for as a prior
LEAST_BACKGROUND = 1.0  # in an unknown language, so that what every sentence holds still weighs something
FAMILIARITY = (0.4, 0.8)  # share of known words up to which the language is foreign, from which it is known
PHRASE_POWER = (1.0, 3.0)  # of rarity in a foreign and in a known language: there rare phrases are quotations
ORDINARY_TITLE = 0.3  # rarity below which a title's words stand in any text, whether or not it mentions the document
COMMON = 0.012  # share of documents that have a phrase, from which it distinguishes nothing
SEARCHES_OF_A_QUESTION = 2  # in its own phrases, and in those of its hits


@dataclass(frozen=True)
class TermRarity:
    """The rarity of terms in a collection."""

    words: Blend
    phrases: Blend
    familiarity: float  # share of the running words that the background text knows
    titles: Titles
    usual_words: float  # of a document; 0 where too few documents are known
    reads_english_alone: bool  # the backbone; else it is trusted with any language
    space: Space  # in which the documents' vectors are compared

    def idf(self, kind: Kind) -> Blend:
        """The rarity of words, or of phrases."""
        return self.words if kind == "words" else self.phrases

    @cached_property
    def boilerplate(self) -> "Boilerplate":
        """The phrases that are common."""
        return Boilerplate(self.phrases)

    def of_mentions(self, mentions: Mentions) -> Floats:
        """The rarity of each title from 0 to 1: that of its rarest term.

        It is 0 for a title that several documents have, and for one that is an ordinary word of a letter: "Received".
        """
        terms = mentions.terms.ravel()
        words = self.words.idf(np.append(terms, np.uint64(NO_TERM)))  # the last is a term that nothing has
        idf = np.minimum(words[:-1], self.phrases.idf(terms) ** (1 / phrase_power(self.familiarity)))
        rarest = idf.reshape(-1, TITLE_TERMS).max(axis=1)
        rarity = np.clip(rarest / words[-1], 0, 1)
        several = mentions.documents > 1  # a title that several documents have says what kind they are of: "Report"
        return np.where(several | (rarity < ORDINARY_TITLE), 0.0, rarity)


class Boilerplate:
    """Finds the common phrases of a collection: what several of its documents have word for word, or texts of its kind.

    One question is answered sooner by looking its phrases up; for more, a table of all common phrases is made.
    """

    def __init__(self, phrases: Blend) -> None:
        self._phrases, self._searches = phrases, 0
        self._table: TermTable | None = None

    def prepare(self) -> None:
        """Make the table."""
        if self._table is None:
            self._table = TermTable.of(self._phrases.common(COMMON))

    def find(self, phrases: Hashes) -> Ints:
        """Where common phrases stand among others, in no particular order."""
        self._searches += 1
        if self._searches > SEARCHES_OF_A_QUESTION:
            self.prepare()
        if self._table is None:
            return np.flatnonzero(self._phrases.share(phrases) >= COMMON)
        return self._table.find(phrases)[0]


def blend(
    kind: Kind, frequencies: TermFrequencies, background: TermBackground, familiarity: float, known: float
) -> Blend:
    """A collection's document frequencies with the background's as a prior, as far as it has the collection's words.

    In a language that the backbone knows, rare phrases count by a power of their rarity, and the rarity of words ends
    at one in BACKGROUND_DOCUMENTS: names and misspellings that a large collection has once would outweigh all else.
    """
    worth = max(LEAST_BACKGROUND, BACKGROUND_DOCUMENTS * known)
    power = phrase_power(familiarity) if kind == "phrases" else 1.0
    documents = frequencies.documents + worth
    least = BACKGROUND_DOCUMENTS if kind == "words" else documents
    scale = float(np.interp(familiarity, FAMILIARITY, (documents, least)))
    return Blend(frequencies, background.frequencies(kind), worth, power, scale)


def phrase_power(familiarity: float) -> float:
    """The power of a phrase's rarity, by the share of the words that are known.

    >>> phrase_power(0.1), phrase_power(0.95)
    (1.0, 3.0)
    """
    return float(np.interp(familiarity, FAMILIARITY, PHRASE_POWER))
