"""The words of a document's sentences as a sparse matrix: made once, however many other documents it is compared with.

Nothing here is as large as all pairs of sentences of a long document, most of which share no word.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from longmatch.lab.words.similarity import Floats
from longmatch.lexical.terms import Hashes, Stream
from longmatch.units.tokens import Ints, Tokens

REMEMBERED = 1024  # documents


@dataclass(frozen=True)
class WordMatrix:
    """How often each sentence holds each of the document's words."""

    words: Hashes  # distinct, in rising order
    counts: csr_array  # (sentences, words)
    lengths: Ints  # (sentences,) words of each, repeated ones too

    @staticmethod
    def of(stream: Stream) -> "WordMatrix":
        """From the words of a document, sentence after sentence."""
        words, column = np.unique(stream.ids, return_inverse=True)
        lengths = np.diff(stream.offsets)
        counts = csr_array((np.ones(len(column)), column, stream.offsets.copy()), shape=(len(lengths), len(words)))
        counts.sum_duplicates()  # in place: the offsets too
        return WordMatrix(words, counts, lengths)

    @property
    def distinct(self) -> Ints:
        """How many words each sentence holds, each counted once."""
        found: Ints = np.diff(self.counts.indptr).astype(np.int64)
        return found

    @cached_property
    def held(self) -> csr_array:
        """1 where a sentence holds a word."""
        return csr_array((np.ones(self.counts.nnz), self.counts.indices, self.counts.indptr), shape=self.counts.shape)

    @cached_property
    def logs(self) -> Floats:
        """Of the sentences' lengths; one of a single word counts as one of two, as in `textrank_similarity`."""
        found: Floats = np.log(np.maximum(self.lengths, 2))
        return found

    @cached_property
    def within(self) -> csr_array:
        """How alike the document's own sentences are, each with itself left out: (sentences, sentences)."""
        found = self.shared(self)
        found.data[found.indices == np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))] = 0.0
        return found

    def shared(self, other: "WordMatrix") -> csr_array:
        """SST's equation 1 for each sentence and each of the other's: (sentences, the other's sentences)."""
        found = self.held @ other.told_in(self.words).T
        rows = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
        found.data /= self.logs[rows] + other.logs[found.indices]
        return found

    def told_in(self, words: Hashes) -> csr_array:
        """Which of some words, in rising order, each sentence holds: (sentences, those words)."""
        shape = len(self.lengths), len(words)
        if words is self.words or not len(words) or not len(self.words):
            return self.held if words is self.words else csr_array(shape)
        place = np.minimum(np.searchsorted(words, self.words), len(words) - 1)
        known = (words[place] == self.words)[self.counts.indices]
        offsets = np.concatenate([[0], known.cumsum()])[self.counts.indptr]
        columns = place[self.counts.indices[known]]
        return csr_array((np.ones(len(columns)), columns, offsets), shape=shape)


class Matrices:
    """The word matrices of documents, those of the last ones kept: a query is compared with many."""

    def __init__(self, words: Callable[[Tokens], Stream], most: int = REMEMBERED) -> None:
        self.words, self.most = words, most
        self._known: OrderedDict[int, tuple[Tokens, WordMatrix]] = OrderedDict()  # the tokens stay, so ids stay theirs

    def __call__(self, tokens: Tokens) -> WordMatrix:
        """Of one document; known again by being the very same object."""
        key = id(tokens)
        if key not in self._known:
            self._known[key] = tokens, WordMatrix.of(self.words(tokens))
        self._known.move_to_end(key)
        if len(self._known) > self.most:
            self._known.popitem(last=False)
        return self._known[key][1]
