"""The words of a document's sentences as a sparse matrix, built once for comparisons with many other documents.

Nothing here is dense in pairs of sentences, most of which share no word.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from cachetools import LRUCache
from scipy.sparse import csr_array

from longmatch.lab.words.similarity import Floats
from longmatch.lexical.terms import Hashes, Stream, lookup
from longmatch.units.tokens import Ints, Tokens

CACHE_SIZE = 1024  # documents


@dataclass(frozen=True)
class WordMatrix:
    """The count of each of a document's words in each sentence."""

    words: Hashes  # distinct, sorted
    counts: csr_array  # (sentences, words)
    lengths: Ints  # (sentences,) in words

    @staticmethod
    def of(stream: Stream) -> "WordMatrix":
        """Count the words of a document."""
        words, column = np.unique(stream.ids, return_inverse=True)
        lengths = np.diff(stream.offsets)
        counts = csr_array((np.ones(len(column)), column, stream.offsets.copy()), shape=(len(lengths), len(words)))
        counts.sum_duplicates()  # changes the offsets in place
        return WordMatrix(words, counts, lengths)

    @property
    def distinct(self) -> Ints:
        """The number of distinct words in each sentence."""
        distinct: Ints = np.diff(self.counts.indptr).astype(np.int64)
        return distinct

    @cached_property
    def presence(self) -> csr_array:
        """1 where a sentence contains a word: (sentences, words)."""
        return csr_array((np.ones(self.counts.nnz), self.counts.indices, self.counts.indptr), shape=self.counts.shape)

    @cached_property
    def log_lengths(self) -> Floats:
        """Logarithms of the lengths; a single word counts as two, as in `textrank_similarity`."""
        logs: Floats = np.log(np.maximum(self.lengths, 2))
        return logs

    @cached_property
    def within(self) -> csr_array:
        """The similarity of the document's own sentences, 0 on the diagonal: (sentences, sentences)."""
        similarity = self.shared(self)
        rows = np.repeat(np.arange(similarity.shape[0]), np.diff(similarity.indptr))
        similarity.data[similarity.indices == rows] = 0.0
        return similarity

    def shared(self, other: "WordMatrix") -> csr_array:
        """SST's equation 1 for each sentence and each of the other document's: (sentences, the other's sentences)."""
        similarity = self.presence @ other.presence_of(self.words).T
        rows = np.repeat(np.arange(similarity.shape[0]), np.diff(similarity.indptr))
        similarity.data /= self.log_lengths[rows] + other.log_lengths[similarity.indices]
        return similarity

    def presence_of(self, words: Hashes) -> csr_array:
        """1 where a sentence contains one of the given sorted words: (sentences, those words)."""
        shape = len(self.lengths), len(words)
        if words is self.words or not len(words) or not len(self.words):
            return self.presence if words is self.words else csr_array(shape)
        position, present = lookup(words, self.words)
        kept = present[self.counts.indices]
        offsets = np.concatenate([[0], kept.cumsum()])[self.counts.indptr]
        columns = position[self.counts.indices[kept]]
        return csr_array((np.ones(len(columns)), columns, offsets), shape=shape)


class WordMatrixCache:
    """Builds the word matrices of documents and caches the most recently used."""

    def __init__(self, words: Callable[[Tokens], Stream], size: int = CACHE_SIZE) -> None:
        self.words = words
        self._recent: LRUCache[int, tuple[Tokens, WordMatrix]] = LRUCache(size)  # by id(), which the tokens keep alive

    def __call__(self, tokens: Tokens) -> WordMatrix:
        """The word matrix of a document; the cache goes by object identity."""
        if id(tokens) not in self._recent:
            self._recent[id(tokens)] = tokens, WordMatrix.of(self.words(tokens))
        return self._recent[id(tokens)][1]
