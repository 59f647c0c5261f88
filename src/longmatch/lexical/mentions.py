"""Which documents of a collection two documents both name: their titles, found in the texts.

Documents that name the same others belong together, as papers that cite the same papers do (bibliographic coupling),
and so do those of which one names the other: each names itself. A title is found by its terms: a title of one word by
the word, of two by the phrase, a longer one by phrases of three words; so what is stored of a document is enough.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from longmatch.documents.language import words_of
from longmatch.lexical.frequencies import Floats
from longmatch.lexical.terms import PHRASE_LENGTHS, Hashes, Ints, Stream, hash_word, phrases_of

TERMS = 4  # that a title is found by, from its first words to its last
PER = 100.0  # running words that a name of the rarest kind is counted for
SHORTEST = 500.0  # words added to every document: in a short one few names say little
NOTHING = 0  # stands for the terms of a title that names nothing
_BESIDE = re.compile(r"\s*\([^()]*\)")  # what only tells titles apart: Mercury (planet)


def bare_title(title: str) -> str:
    """A title as texts name it.

    >>> bare_title("Mercury (planet)")
    'Mercury'
    """
    return _BESIDE.sub("", title)


def title_terms(title: str) -> Hashes:
    """The terms that a text has which names this title, in the title's order, repeated where they are fewer: (TERMS,).

    A title without letters names nothing, as numbers are found everywhere.
    """
    words = words_of(bare_title(title))
    if not any(letter.isalpha() for word in words for letter in word):
        return np.full(TERMS, NOTHING, dtype=np.uint64)
    ids = np.array([hash_word(word) for word in words], dtype=np.uint64)
    if len(words) >= min(PHRASE_LENGTHS):
        longest = min(len(words), max(PHRASE_LENGTHS))
        phrases = phrases_of(Stream(ids, np.array([0, len(ids)], dtype=np.int64))).ids  # shorter ones first
        ids = phrases[-(len(words) - longest + 1) :]
    return ids[np.linspace(0, len(ids) - 1, TERMS).round().astype(np.int64)]


def stacked(titles: Sequence[Hashes] | Hashes) -> Hashes:
    """The terms of several titles: (titles, TERMS)."""
    return np.array(titles, dtype=np.uint64).reshape(-1, TERMS)


@dataclass(frozen=True)
class Titles:
    """The titles of a collection's documents, to be looked for in a text."""

    terms: Hashes  # (TERMS, titles), the first terms in rising order

    @staticmethod
    def of(terms: Hashes) -> "Titles":
        """From the terms of each document's title: (documents, TERMS)."""
        known = terms[terms[:, 0] != NOTHING]
        return Titles(np.ascontiguousarray(known[np.argsort(known[:, 0], kind="stable")].T))

    @cached_property
    def usual(self) -> float:
        """How many different terms a title has in the mean: 1 up to three words, all from six on; 0 without titles."""
        if not self.terms.size:
            return 0.0
        rising = np.sort(self.terms, axis=0)
        return 1 + float((np.diff(rising, axis=0) != 0).sum()) / len(self)

    def __len__(self) -> int:
        return int(self.terms.shape[1])

    def named(self, terms: Hashes, more: Hashes) -> "Names":
        """The titles, `more` of them besides, whose terms are all among these, which are in rising order."""
        first, last = (np.searchsorted(self.terms[0], terms, side) for side in ("left", "right"))
        found = self.terms[:, _runs(first, last)].T
        rows = np.concatenate([found, more[more[:, 0] != NOTHING]])
        held = np.flatnonzero(np.isin(rows, terms).all(axis=1))
        distinct, place = np.unique(rows[held], axis=0, return_inverse=True)
        return Names(distinct, np.bincount(place.ravel()[held < len(found)], minlength=len(distinct)))


def own_terms(titles: Hashes) -> tuple[Ints, Hashes]:
    """Of documents with these titles, pairs that say that each has the terms of its own: it names itself."""
    return np.repeat(np.arange(len(titles)), TERMS), titles.ravel()


def coupling(found: sp.csr_array, rarity: Floats, words: int, others: Ints) -> Floats:
    """How much of the same a document of so many words and each of others name: (documents,), at most 1.

    PER Σ rarity² / √((SHORTEST + words) (SHORTEST + other's words)) over the names found, with a rarity from 0 to 1.
    """
    lengths = (SHORTEST + words) * (SHORTEST + others)
    return np.asarray(np.minimum(PER * (found @ rarity**2) / np.sqrt(lengths), 1.0))


def _runs(first: Ints, last: Ints) -> Ints:
    """The numbers from each first up to each last."""
    counts = last - first
    starts = np.repeat(first - np.concatenate([[0], counts.cumsum()[:-1]]), counts) if len(counts) else counts
    return np.arange(len(starts)) + starts


@dataclass(frozen=True)
class Names:
    """Titles that a document names."""

    terms: Hashes  # (names, TERMS)
    titled: Ints  # how many documents of the collection have this title

    def __len__(self) -> int:
        return len(self.terms)

    @cached_property
    def ids(self) -> Hashes:
        """The terms to be looked for, in rising order."""
        return np.unique(self.terms)

    def found(self, document: Ints, term: Hashes, documents: int) -> sp.csr_array:
        """1 where a document has all terms of a name: (documents, names). Each pair says that a document has a term."""
        if not len(self):
            return sp.csr_array((documents, 0))
        place = np.minimum(np.searchsorted(self.ids, term), len(self.ids) - 1)
        wanted = self.ids[place] == term
        pairs = np.unique(document[wanted] * len(self.ids) + place[wanted])
        ones = np.ones(len(pairs), dtype=np.int32)
        has = sp.csr_array((ones, np.divmod(pairs, len(self.ids))), shape=(documents, len(self.ids)))
        columns = np.repeat(np.arange(len(self)), TERMS)
        ones = np.ones(len(columns), dtype=np.int32)
        needs = sp.csr_array(
            (ones, (np.searchsorted(self.ids, self.terms.ravel()), columns)), shape=(len(self.ids), len(self))
        )
        counts = sp.csr_array(has @ needs)  # a term that is repeated counts as often
        counts.data = (counts.data == TERMS).astype(np.int32)
        counts.eliminate_zeros()
        return counts
