"""TF-IDF and BM25 weights, for one document or a whole collection as a sparse matrix."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from longmatch.lexical.frequencies import Floats, Frequencies
from longmatch.lexical.terms import Counts, Flags, Hashes, Ints, lookup
from longmatch.ragged import offsets_of, ranges

_LOG_TF = np.concatenate([[0.0], 1 + np.log(np.arange(1, 1024))])
"""1 + ln tf of the counts that terms usually have: a table is quicker than a logarithm."""


class Idf(Protocol):
    """Anything that weighs terms by their rarity."""

    def idf(self, terms: Hashes) -> Floats:
        """A weight for each term."""
        ...


@dataclass(frozen=True)
class Weighted:
    """A document's terms with their weights; TF-IDF weights have length 1."""

    ids: Hashes
    values: Floats

    def dot(self, other: "Weighted") -> float:
        """The sum over shared terms of the product of their weights."""
        position, present = lookup(other.ids, self.ids)
        return float(self.values[present] @ other.values[position[present]])


def log_tf(counts: npt.NDArray[np.generic]) -> Floats:
    """1 + ln tf, and 0 for a count of 0.

    >>> log_tf(np.array([0, 1, 3])).round(3)
    array([0.   , 1.   , 2.099])
    """
    numbers = np.asarray(counts)
    if numbers.dtype.kind in "iu" and numbers.max(initial=0) < len(_LOG_TF):
        return _LOG_TF.take(numbers.astype(np.int64, copy=False), mode="clip")
    return np.where(numbers > 0, 1 + np.log(np.maximum(numbers, 1)), 0.0)


def tfidf(counts: Counts, idf: Idf) -> Weighted:
    """(1 + ln tf) idf, divided by the length of the vector."""
    return Weighted(counts.ids, tfidf_values(counts.counts, idf.idf(counts.ids)))


def tfidf_values(counts: Ints, idf: Floats) -> Floats:
    """The weights of a document's terms, from how often it has each and how rare each is."""
    values = log_tf(counts) * idf
    length = float(np.linalg.norm(values))
    return values / length if length else values


def tfidf_rows(counts: Floats, idf: Floats) -> Floats:
    """`tfidf` of many texts at once: word counts (texts, words) and the words' idf (words,) -> (texts, words)."""
    values = log_tf(counts) * idf
    lengths = np.linalg.norm(values, axis=1, keepdims=True)
    return np.asarray(values / np.where(lengths > 0, lengths, 1.0))


@dataclass(frozen=True)
class TermMatrix:
    """The weights of a collection, term by term: a query touches only its own terms."""

    documents: int
    vocabulary: Hashes  # sorted
    starts: Ints  # of each term's entries, and the end
    document: Ints  # of each entry
    values: Floats

    @staticmethod
    def of(documents: Sequence[Weighted]) -> "TermMatrix":
        """Stack the documents' weights."""
        joined = np.concatenate([d.ids for d in documents]) if documents else np.empty(0, np.uint64)
        values = np.concatenate([d.values for d in documents]) if documents else np.empty(0)
        document = np.repeat(np.arange(len(documents)), [len(d.ids) for d in documents])
        order = np.argsort(joined, kind="stable")
        vocabulary, counts = np.unique(joined, return_counts=True)
        return TermMatrix(len(documents), vocabulary, offsets_of(counts), document[order], values[order])

    def scores(self, query: Weighted) -> Floats:
        """The dot product of a query with every document."""
        entries, counts, present = self._entries(query.ids)
        mass = self.values[entries] * np.repeat(query.values[present], counts)
        return np.asarray(np.bincount(self.document[entries], mass, self.documents), dtype=np.float64)

    def holders(self, terms: Hashes) -> tuple[Ints, Hashes]:
        """A pair for every document that has one of the terms, and that term."""
        entries, counts, present = self._entries(terms)
        return self.document[entries], np.repeat(terms[present], counts)

    def _entries(self, terms: Hashes) -> tuple[Ints, Ints, Flags]:
        """The entries of some terms, how many each has, and which terms have any."""
        position, present = lookup(self.vocabulary, terms)
        first, last = self.starts[:-1][position[present]], self.starts[1:][position[present]]
        return ranges(first, last), last - first, present


def bm25(counts: Counts, frequencies: Frequencies, mean_length: float, k1: float = 1.5, b: float = 0.75) -> Weighted:
    """Robertson's BM25 weight of each term of a candidate, with Lucene's idf: ln(1 + (n - df + 0.5) / (df + 0.5))."""
    n, df = frequencies.documents, frequencies(counts.ids)
    idf = np.log(1 + (n - df + 0.5) / (df + 0.5))
    length = counts.counts.sum() / max(mean_length, 1e-9)
    return Weighted(counts.ids, idf * counts.counts / (counts.counts + k1 * (1 - b + b * length)))


def bm25_query(counts: Counts) -> Weighted:
    """The weights of a query for BM25: each of its terms as often as it occurs."""
    return Weighted(counts.ids, counts.counts.astype(np.float64))
