"""TF-IDF and BM25 weights, for one document or a whole collection as a sparse matrix."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from longmatch.lexical.frequencies import Floats, Frequencies
from longmatch.lexical.terms import Counts, Hashes, Ints, lookup


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
        _, mine, theirs = np.intersect1d(self.ids, other.ids, assume_unique=True, return_indices=True)
        return float(self.values[mine] @ other.values[theirs])


def log_tf(counts: npt.NDArray[np.generic]) -> Floats:
    """1 + ln tf, and 0 for a count of 0.

    >>> log_tf(np.array([0, 1, 3])).round(3)
    array([0.   , 1.   , 2.099])
    """
    return np.where(np.asarray(counts) > 0, 1 + np.log(np.maximum(counts, 1)), 0.0)


def tfidf(counts: Counts, idf: Idf) -> Weighted:
    """(1 + ln tf) idf, divided by the length of the vector."""
    values = log_tf(counts.counts) * idf.idf(counts.ids)
    length = float(np.linalg.norm(values))
    return Weighted(counts.ids, values / length if length else values)


def tfidf_rows(counts: Floats, idf: Floats) -> Floats:
    """`tfidf` of many texts at once: word counts (texts, words) and the words' idf (words,) -> (texts, words)."""
    values = log_tf(counts) * idf
    lengths = np.linalg.norm(values, axis=1, keepdims=True)
    return np.asarray(values / np.where(lengths > 0, lengths, 1.0))


@dataclass(frozen=True)
class TermMatrix:
    """The weights of a collection: one row per document, one column per term."""

    vocabulary: Hashes  # sorted
    matrix: sp.csc_array  # (documents, terms), by column: a query touches only its own terms

    @staticmethod
    def of(documents: Sequence[Weighted]) -> "TermMatrix":
        """Stack the documents' weights."""
        joined = np.concatenate([d.ids for d in documents]) if documents else np.empty(0, np.uint64)
        vocabulary, columns = np.unique(joined, return_inverse=True)
        offsets = np.concatenate([[0], np.cumsum([len(d.ids) for d in documents], dtype=np.int64)])
        values = np.concatenate([d.values for d in documents]) if documents else np.empty(0)
        shape = (len(documents), len(vocabulary))
        return TermMatrix(vocabulary, sp.csr_array((values, columns, offsets), shape=shape).tocsc())

    def scores(self, query: Weighted) -> Floats:
        """The dot product of a query with every document."""
        position, present = lookup(self.vocabulary, query.ids)
        return np.asarray(self.matrix[:, position[present]] @ query.values[present])

    def holders(self, terms: Hashes) -> tuple[Ints, Hashes]:
        """A pair for every document that has one of the terms, and that term."""
        position, present = lookup(self.vocabulary, terms)
        columns = self.matrix[:, position[present]]
        return columns.indices.astype(np.int64), np.repeat(terms[present], np.diff(columns.indptr))


def bm25(counts: Counts, frequencies: Frequencies, mean_length: float, k1: float = 1.5, b: float = 0.75) -> Weighted:
    """Robertson's BM25 weight of each term of a candidate, with Lucene's idf: ln(1 + (n - df + 0.5) / (df + 0.5))."""
    n, df = frequencies.documents, frequencies(counts.ids)
    idf = np.log(1 + (n - df + 0.5) / (df + 0.5))
    length = counts.counts.sum() / max(mean_length, 1e-9)
    return Weighted(counts.ids, idf * counts.counts / (counts.counts + k1 * (1 - b + b * length)))


def bm25_query(counts: Counts) -> Weighted:
    """The weights of a query for BM25: each of its terms as often as it occurs."""
    return Weighted(counts.ids, counts.counts.astype(np.float64))
