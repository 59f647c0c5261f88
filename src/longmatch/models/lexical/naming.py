"""Which documents of a collection a document names: their titles, found in its text.

Documents that name the same others belong together, as papers that cite the same papers do (bibliographic coupling),
and so do those of which one names the other: each names itself. A title is found by its terms: a title of one word by
the word, of two by the phrase, a longer one by all its phrases of three words; so what is stored of a document is
enough.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from longmatch.documents.language import words_of
from longmatch.models.lexical.terms import PHRASE_LENGTHS, Hashes, Stream, Terms, hash_word, phrases_of

WORTH = 20.0  # names of usual rarity that every document is taken to have besides: few names say little
_BESIDE = re.compile(r"\s*\([^()]*\)")  # what only tells titles apart: Mercury (planet)


def title_terms(title: str) -> Hashes:
    """The terms that a text has which names this title; none for a title without words."""
    words = [hash_word(word) for word in words_of(_BESIDE.sub("", title))]
    stream = Stream(np.array(words, dtype=np.uint64), np.array([0, len(words)], dtype=np.int64))
    if len(words) < min(PHRASE_LENGTHS):
        return stream.ids
    longest = min(len(words), max(PHRASE_LENGTHS))
    phrases = phrases_of(stream).ids  # shorter ones first
    return np.unique(phrases[-(len(words) - longest + 1) :])


@dataclass(frozen=True)
class Names:
    """The titles of a collection, by their terms."""

    terms: Hashes  # distinct, rising
    titles: sp.csr_array  # (terms, titles): 1 where a title has a term
    sizes: npt.NDArray[np.int64]  # terms of each title

    @staticmethod
    def of(titles: Sequence[str]) -> "Names":
        """Of the documents of a collection, in their order."""
        each = [title_terms(title) for title in titles]
        terms = np.unique(np.concatenate([*each, np.empty(0, dtype=np.uint64)]))
        sizes = np.array([len(ids) for ids in each], dtype=np.int64)
        rows = np.searchsorted(terms, np.concatenate([*each, np.empty(0, dtype=np.uint64)]))
        columns = np.repeat(np.arange(len(each)), sizes)
        ones = np.ones(len(rows), dtype=np.int32)
        return Names(terms, sp.csr_array((ones, (rows, columns)), shape=(len(terms), len(each))), sizes)

    def found(self, documents: Iterable[Terms]) -> sp.csr_array:
        """1 where a document names a title: (documents, titles)."""
        rows: list[npt.NDArray[np.int64]] = []
        for document in documents:
            ids = np.union1d(document.words.ids, document.phrases.ids)
            places = np.searchsorted(self.terms, ids)
            known = self.terms[np.minimum(places, len(self.terms) - 1)] == ids if len(self.terms) else places < 0
            rows.append(places[known])
        bounds = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
        places = np.concatenate([*rows, np.empty(0, dtype=np.int64)])
        have = sp.csr_array((np.ones(len(places), dtype=np.int32), places, bounds), shape=(len(rows), len(self.terms)))
        counts = (have @ self.titles).tocsr()
        counts.data = (counts.data == self.sizes[counts.indices]).astype(np.int32)
        counts.eliminate_zeros()
        return counts


def naming(found: sp.csr_array) -> sp.csr_array:
    """Of the documents whose titles they are, in the same order, what each names and itself, weighed by rarity.

    The product of two rows is near the cosine of what both name; with few names it stays small.
    """
    size = found.shape[0]
    both = (found + sp.eye_array(size, dtype=np.int32, format="csr")).tocsr()
    rarity = np.log((size + 1) / (np.bincount(found.indices, minlength=size) + 0.5))
    weights = rarity[both.indices]
    rows = np.repeat(np.arange(size), np.diff(both.indptr))
    lengths = np.bincount(rows, weights=weights**2, minlength=size) + WORTH * np.mean(rarity**2)
    return sp.csr_array((weights / np.sqrt(lengths)[rows], both.indices, both.indptr), shape=both.shape)
