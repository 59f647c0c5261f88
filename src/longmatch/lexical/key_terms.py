"""Which of the shared words and phrases to show a reader, and how much each carries.

A phrase is shown by its core, what remains without the everyday words at its ends: "bank had" as "bank", "the central
bank" as "central bank". A core carries what all its phrases carry, so that nothing is lost or counted twice. A phrase
of everyday words alone is its own core, and comes last, as does a word that half the texts of some kind have.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from longmatch.documents.language import COMMON_WORDS
from longmatch.lexical.background import TermBackground
from longmatch.lexical.function_words import function_words
from longmatch.lexical.links import Shared
from longmatch.lexical.spelling import spell
from longmatch.lexical.terms import (
    PHRASE_LENGTHS,
    Flags,
    Hashes,
    Ints,
    Stream,
    hash_runs,
    hash_word,
    lookup,
    run_starts,
)
from longmatch.matching.match import Term
from longmatch.matching.sentences import Sentences

LENGTHS = (1, *PHRASE_LENGTHS)
SYMBOLS = (
    "abcdefghijklmnopqrstuvwxyzαβγδεζηθικλμνξοπρστυφχψω"  # single letters, which name something in a formula alone
)
NUMBERS = 1_000  # up to which a number by itself says nothing
TOP_TERMS = 40  # considered; those that are part of a heavier one are left out


def key_terms(
    shared: Sequence[Shared], words: Stream, sentences: Sentences, background: TermBackground
) -> tuple[Term, ...]:
    """The cores that carry most of the lexical evidence, spelled as they stand in one of the documents.

    `words` are the words of that document's `sentences`; `background` says which are everyday words.
    """
    ids, mass = (np.concatenate(parts) for parts in zip(*((s.ids, s.mass) for s in shared), strict=True))
    cores = _Cores.of(words, is_everyday(words.ids, background, sentences.document.language))
    position = np.searchsorted(cores.terms, ids)
    carried = np.bincount(cores.core[position], mass, len(cores.terms))
    best = np.lexsort((-carried, cores.everyday | background.common(cores.terms)))[:TOP_TERMS]
    best = best[carried[best] > 0]
    holders = np.unique(cores.sentence[best]).tolist()
    spelled = spell(cores.terms[best], [sentences.readable(i) for i in holders])
    total = float(mass.sum()) or 1.0
    shares = ((int(cores.terms[i]), float(carried[i]) / total) for i in best)
    return tuple(_distinct(Term(spelled[term], share) for term, share in shares if term in spelled))


def is_everyday(words: Hashes, background: TermBackground, language: str = "en") -> Flags:
    """Which words of a text are everyday ones: those of much of general text, and the function words of its language.

    Single letters and small numbers are no better by themselves.
    """
    return np.asarray(lookup(background.everyday, words)[1] | lookup(_others(language), words)[1])


@cache
def _others(language: str) -> Hashes:
    words = (*function_words("en"), *function_words(language), *COMMON_WORDS, *SYMBOLS, *map(str, range(NUMBERS + 1)))
    return np.unique(np.array([hash_word(word) for word in words], dtype=np.uint64))


@dataclass(frozen=True)
class _Cores:
    """The distinct terms of a document, and the core of each."""

    terms: Hashes  # sorted
    core: Ints  # its position among the terms
    everyday: Flags  # whether it consists of everyday words alone
    sentence: Ints  # one that holds it

    @staticmethod
    def of(words: Stream, common: Flags) -> "_Cores":
        runs = [run_starts(words, length) for length in LENGTHS]
        lengths = np.repeat(LENGTHS, [len(starts) for starts in runs])
        terms, first = np.unique(_hashed(words, np.concatenate(runs), lengths), return_index=True)
        starts, lengths = np.concatenate(runs)[first], lengths[first]
        begins, ends = starts.copy(), starts + lengths
        for _ in LENGTHS:
            begins += (begins < ends) & common[np.minimum(begins, len(common) - 1)]
            ends -= (begins < ends) & common[ends - 1]
        empty = begins == ends
        begins, ends = np.where(empty, starts, begins), np.where(empty, starts + lengths, ends)
        core = np.searchsorted(terms, _hashed(words, begins, ends - begins))
        return _Cores(terms, core, empty, words.sentence[starts])


def _hashed(words: Stream, starts: Ints, lengths: Ints) -> Hashes:
    """The terms of runs of words."""
    terms = np.empty(len(starts), dtype=np.uint64)
    for length in LENGTHS:
        terms[lengths == length] = hash_runs(words.ids, starts[lengths == length], length)
    return terms


def _distinct(terms: Iterable[Term]) -> Iterator[Term]:
    """Without the terms that are part of a heavier one: "model" after "language model"."""
    shown: list[str] = []
    for term in terms:
        padded = f" {term.text} "
        if not any(padded in other for other in shown):
            shown.append(padded)
            yield term
