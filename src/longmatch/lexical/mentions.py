"""Which documents of a collection a text mentions: their titles, found in its words.

Documents that mention the same others belong together, as papers that cite the same papers do (bibliographic coupling),
and so do those of which one mentions the other: each counts as mentioning itself. A title is found by its terms: a
title of one word by the word, of two by the phrase, a longer one by phrases of three words; so the stored terms of a
document are enough.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from longmatch.lexical.form import title_words
from longmatch.lexical.terms import PHRASE_LENGTHS, Hashes, Ints, Stream, hash_word, lookup, phrases_of
from longmatch.ragged import Floats, offsets_of, ranges

TITLE_TERMS = 4  # by which a title is found, from its first words to its last
NO_TERM = 0  # in place of the terms of a title that cannot be mentioned
WORDS_PER_MENTION = 100.0  # running words that a mention of the rarest kind makes up for
EXTRA_WORDS = 500.0  # added to every document's length: in a short one few mentions say little
_DISAMBIGUATION = re.compile(r"(?<!\s)\s*+\([^()]*+\)")  # Mercury (planet)


def bare_title(title: str) -> str:
    """A title as texts mention it.

    >>> bare_title("Mercury (planet)")
    'Mercury'
    """
    return _DISAMBIGUATION.sub("", title)


def title_terms(title: str) -> Hashes:
    """The terms of a text that mentions this title, in the title's order, repeated where there are fewer:
    (TITLE_TERMS,).

    A title without letters cannot be mentioned, as numbers are found everywhere.
    """
    words = title_words(bare_title(title))
    if not any(letter.isalpha() for word in words for letter in word):
        return np.full(TITLE_TERMS, NO_TERM, dtype=np.uint64)
    ids = np.array([hash_word(word) for word in words], dtype=np.uint64)
    if len(words) >= min(PHRASE_LENGTHS):
        longest = min(len(words), max(PHRASE_LENGTHS))
        phrases = phrases_of(Stream(ids, np.array([0, len(ids)], dtype=np.int64))).ids  # shorter ones first
        ids = phrases[-(len(words) - longest + 1) :]
    return ids[np.linspace(0, len(ids) - 1, TITLE_TERMS).round().astype(np.int64)]


def stack_titles(titles: Sequence[Hashes] | Hashes) -> Hashes:
    """The terms of several titles: (titles, TITLE_TERMS)."""
    return np.array(titles, dtype=np.uint64).reshape(-1, TITLE_TERMS)


@dataclass(frozen=True)
class Titles:
    """The titles of a collection's documents, to be looked for in a text."""

    terms: Hashes  # (TITLE_TERMS, titles), sorted by their first terms

    @staticmethod
    def of(terms: Hashes) -> "Titles":
        """From the terms of each document's title: (documents, TITLE_TERMS)."""
        known = terms[terms[:, 0] != NO_TERM]
        return Titles(np.ascontiguousarray(known[np.argsort(known[:, 0], kind="stable")].T))

    @cached_property
    def mean_terms(self) -> float:
        """The mean number of distinct terms of a title: 1 up to three words, all from six on; 0 without titles."""
        if not self.terms.size:
            return 0.0
        ordered = np.sort(self.terms, axis=0)
        return 1 + float((np.diff(ordered, axis=0) != 0).sum()) / len(self)

    def __len__(self) -> int:
        return int(self.terms.shape[1])

    def mentioned(self, terms: Hashes, extra: Hashes) -> "Mentions":
        """The titles whose terms are all among `terms`, which are sorted; `extra` titles are looked for too."""
        first, last = (np.searchsorted(self.terms[0], terms, side) for side in ("left", "right"))
        found = self.terms[:, ranges(first, last)].T
        rows = np.concatenate([found, extra[extra[:, 0] != NO_TERM]])
        complete = np.flatnonzero(lookup(terms, rows.ravel())[1].reshape(rows.shape).all(axis=1))
        distinct, position = np.unique(rows[complete], axis=0, return_inverse=True)
        documents = np.bincount(position.ravel()[complete < len(found)], minlength=len(distinct))
        return Mentions(distinct, documents)


def coupling(document: Ints, title: Ints, rarity: Floats, query_words: int, candidate_words: Ints) -> Floats:
    """How much of the same a query and each candidate mention: (candidates,), at most 1.

    WORDS_PER_MENTION Σ rarity² / √((EXTRA_WORDS + query's words) (EXTRA_WORDS + candidate's words)) over the titles
    that both mention. Candidate `document[i]` mentions the query's title `title[i]`; a title's `rarity` lies between 0
    and 1.
    """
    mass = np.bincount(document, rarity[title] ** 2, len(candidate_words))
    lengths = (EXTRA_WORDS + query_words) * (EXTRA_WORDS + candidate_words)
    return np.asarray(np.minimum(WORDS_PER_MENTION * mass / np.sqrt(lengths), 1.0))


@dataclass(frozen=True)
class Mentions:
    """Titles that a document mentions."""

    terms: Hashes  # (titles, TITLE_TERMS)
    documents: Ints  # documents of the collection with this title

    def __len__(self) -> int:
        return len(self.terms)

    @cached_property
    def ids(self) -> Hashes:
        """The distinct terms of all titles, sorted."""
        return np.unique(self.terms)

    def in_documents(self, document: Ints, term: Hashes) -> tuple[Ints, Ints]:
        """Pairs of a document and a title all of whose terms it has, by document and then title.

        `document` and `term` are pairs: document i has the term t.
        """
        if not len(self):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        position, present = lookup(self.ids, term)
        pairs = np.unique(document[present] * len(self.ids) + position[present])
        holder, held = np.divmod(pairs, len(self.ids))
        needed = np.searchsorted(self.ids, self.terms.ravel())  # a repeated term counts as often as it is repeated
        order = np.argsort(needed, kind="stable")
        starts = offsets_of(np.bincount(needed, minlength=len(self.ids)))
        first, last = starts[:-1][held], starts[1:][held]
        titles = order[ranges(first, last)] // TITLE_TERMS
        keys, counts = np.unique(np.repeat(holder, last - first) * len(self) + titles, return_counts=True)
        mentioned = np.divmod(keys[counts == TITLE_TERMS], len(self))
        return mentioned[0], mentioned[1]
