"""Where nobody can say whether two documents belong together."""

from typing import NamedTuple

from longmatch.default.encoding import Encoding
from longmatch.default.rarity import LITTLE_DOUBT, Rarity
from longmatch.default.unrelated import ONE_TEXT
from longmatch.lexical.background import TermBackground
from longmatch.matching.wording import NoVerdict

QUESTION_WORDS = 40  # of a text from outside, up to which it is a question: the probability is learnt from documents
KNOWN_LANGUAGE = 0.75  # share of running words in the background text: English and Chinese have nearly all, others half


class Language(NamedTuple):
    """The language of a document by its code, and whether the background text has it."""

    code: str
    known: bool

    @staticmethod
    def of(encoding: Encoding, background: TermBackground) -> "Language":
        """That of a document that is encoded."""
        return Language.by_words(
            encoding.document.language, background.known_words(encoding.terms.words.counts), encoding.words
        )

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
    if (
        rarity.unrelated.ignorance <= LITTLE_DOUBT
        and (rarity.unrelated.doubt if doubt is None else doubt) <= LITTLE_DOUBT
    ):
        return None
    return None if phrases >= ONE_TEXT else "kind"
