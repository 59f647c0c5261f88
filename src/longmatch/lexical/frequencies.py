"""In how many documents a term occurs: of a collection, of background text, or of both."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from longmatch.lexical.terms import Counts, Hashes, lookup

Floats = npt.NDArray[np.float64]

_NO_TERMS = np.empty(0, np.uint64)


class TermFrequencies(Protocol):
    """In how many documents of a collection a term occurs."""

    @property
    def documents(self) -> float:
        """The number of documents."""

    def __call__(self, terms: Hashes) -> Floats:
        """The number of documents each of the terms occurs in."""

    def frequent(self, count: float) -> Hashes:
        """All terms that occur in at least so many documents, and maybe others; in no particular order."""


@dataclass(frozen=True)
class Frequencies:
    """Document frequencies: the number of documents, and for each term (sorted hashes) in how many it occurs."""

    documents: float
    ids: Hashes
    counts: Floats

    @staticmethod
    def of(collection: Iterable[Counts]) -> "Frequencies":
        """Count the documents each term occurs in."""
        lists = [document.ids for document in collection]
        joined = np.concatenate(lists) if lists else np.empty(0, np.uint64)
        ids, counts = np.unique(joined, return_counts=True)
        return Frequencies(len(lists), ids, counts.astype(np.float64))

    def __call__(self, terms: Hashes) -> Floats:
        """The number of documents each of the terms occurs in, 0 for unknown ones."""
        position, present = lookup(self.ids, terms)
        return np.where(present, self.counts[position], 0.0) if len(self.ids) else np.zeros(len(terms))

    def share(self, terms: Hashes) -> Floats:
        """The share of the documents that each of the terms occurs in.

        >>> Frequencies(4, np.array([3, 7], np.uint64), np.array([1.0, 4.0])).share(np.array([7, 3, 5], np.uint64))
        array([1.  , 0.25, 0.  ])
        """
        return self(terms) / max(1.0, self.documents)

    def frequent(self, count: float) -> Hashes:
        """The terms that occur in at least so many documents."""
        return self.ids[self.counts >= count]

    def idf(self, terms: Hashes) -> Floats:
        """Inverse document frequency, as scikit-learn smooths it: ln((1 + n) / (1 + df)) + 1."""
        return np.log((1 + self.documents) / (1 + self(terms))) + 1


@dataclass(frozen=True)
class Blend:
    """A collection's frequencies with background text as a prior, worth `worth` documents.

    A folder of ten documents cannot tell common words from rare ones; ten thousand need no help.
    """

    collection: TermFrequencies
    background: Frequencies
    worth: float = 200.0
    power: float = 1.0
    scale: float | None = None  # documents among which a term is rare; by default those of both

    def share(self, terms: Hashes) -> Floats:
        """The share of documents that each term occurs in, of collection and prior."""
        ids, shares = self._own
        position, present = lookup(ids, terms)
        return shares[position] if present.all() else self._share(terms, self.collection(terms))

    def share_of(self, counts: Floats, background: Floats) -> Floats:
        """The same for terms that so many documents of the collection, and of the background, are known to have."""
        return self._blended(counts, background / max(1.0, self.background.documents))

    @cached_property
    def _own(self) -> tuple[Hashes, Floats]:
        """The terms of a collection in memory, which are asked for most, and their shares; none of one on disk."""
        if not isinstance(self.collection, Frequencies):
            return _NO_TERMS, np.empty(0)
        return self.collection.ids, self._share(self.collection.ids, self.collection.counts)

    def common(self, share: float) -> Hashes:
        """All terms that occur in at least such a share of documents, sorted."""
        half = share * (self.collection.documents + self.worth) / 2  # of what collection or prior has to contribute
        prior = self.background.frequent(half / self.worth * self.background.documents) if self.worth else _NO_TERMS
        terms = np.unique(np.concatenate([self.collection.frequent(half), prior]))
        return terms[self.share(terms) >= share]

    def _share(self, terms: Hashes, counts: Floats) -> Floats:
        return self._blended(counts, self.background.share(terms))

    def _blended(self, counts: Floats, background: Floats) -> Floats:
        return (counts + self.worth * background) / (self.collection.documents + self.worth)

    def idf(self, terms: Hashes) -> Floats:
        """ln((1 + n) / (1 + n share)) to the power: a word found everywhere weighs nothing."""
        return self.idf_of(self.share(terms))

    def idf_of(self, share: Floats) -> Floats:
        """The idf of terms that such a share of documents has."""
        documents = self.collection.documents + self.worth if self.scale is None else self.scale
        return np.maximum(np.log((1 + documents) / (1 + documents * share)), 0.0) ** self.power
