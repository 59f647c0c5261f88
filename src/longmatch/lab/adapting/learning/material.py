"""What is learnt from: the sentences of a collection's documents, their words, and which belong together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

BLOCK = 256  # documents compared with all at a time

Ints = npt.NDArray[np.int64]
Tokens = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Material:
    """One collection. Its documents are numbered; `answers` holds both directions, and labels for training alone.

    Titles may be left out; then nothing is learnt from them.
    """

    name: str
    tokens: Tokens  # of all sentences, end to end, without special tokens
    sentences: Ints  # where each sentence's tokens begin, and the end
    documents: Ints  # where each document's sentences begin, and the end
    words: sp.csr_array  # TF-IDF, each row of length 1
    phrases: sp.csr_array
    answers: Mapping[int, frozenset[int]]
    title_tokens: Tokens = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    titles: Ints = field(default_factory=lambda: np.zeros(1, dtype=np.int64))  # where each document's title begins
    trust: float = 0.0  # how far titles say what a document is about, from 0 to 1

    def __len__(self) -> int:
        return len(self.documents) - 1

    @property
    def has_telling_titles(self) -> bool:
        """Whether there is something to be learnt from titles."""
        return self.trust > 0 and len(self.title_tokens) > 0

    @cached_property
    def rare_tokens(self) -> tuple[sp.csr_array, sp.csr_array]:
        """TF-IDF of the tokens of all sentences and of all titles, each row of length 1; rare among the sentences."""
        size = 1 + int(max(self.tokens.max(initial=0), self.title_tokens.max(initial=0)))
        sentences = token_counts(self.tokens, self.sentences, size)
        holders = np.bincount(sentences.indices, minlength=size)
        idf = np.log((1 + sentences.shape[0]) / (1 + holders)).astype(np.float32)
        return weighed(sentences, idf), weighed(token_counts(self.title_tokens, self.titles, size), idf)

    @cached_property
    def negatives(self) -> dict[int, Ints]:
        """The wrong answers that are hardest to tell from right ones."""
        return hard_negatives(self)

    @cached_property
    def cosines(self) -> npt.NDArray[np.float32]:
        """The cosine over words and over phrases of all documents with all: (2, documents, documents)."""
        found = np.empty((2, len(self), len(self)), dtype=np.float32)
        for matrix, into in zip((self.words, self.phrases), found, strict=True):
            across = matrix.T.tocsr()
            for start in range(0, len(self), BLOCK):
                into[start : start + BLOCK] = (matrix[start : start + BLOCK] @ across).toarray()
        return found

    def lexical(self, rows: Ints, columns: Ints) -> npt.NDArray[np.float32]:
        """The cosine over words and over phrases of some documents with others: (2, rows, columns)."""
        return np.asarray(self.cosines[:, rows[:, None], columns])

    def answered(self, rows: Ints, columns: Ints) -> npt.NDArray[np.bool_]:
        """Which of the columns belong to which of the rows."""
        return np.array([[int(c) in self.answers.get(int(r), ()) for c in columns] for r in rows], dtype=bool)


def bounds(lengths: npt.ArrayLike) -> Ints:
    """Where each of so many runs begins, and the end.

    >>> bounds([2, 3]).tolist()
    [0, 2, 5]
    """
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)


def token_counts(tokens: Tokens, runs: Ints, size: int) -> sp.csr_array:
    """How often each token occurs in each run: (runs, size)."""
    ones = np.ones(len(tokens), dtype=np.float32)
    counts = sp.csr_array((ones, tokens, runs.astype(np.int32)), shape=(len(runs) - 1, size), copy=True)
    counts.sum_duplicates()  # in place
    return counts


def weighed(counts: sp.csr_array, idf: npt.NDArray[np.float32]) -> sp.csr_array:
    """(1 + ln tf) idf, each row divided by its length."""
    values = (1 + np.log(counts.data)) * idf[counts.indices]
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    lengths = np.sqrt(np.bincount(row, values**2, minlength=counts.shape[0])).astype(np.float32)
    return sp.csr_array((values / np.maximum(lengths, 1e-9)[row], counts.indices, counts.indptr), shape=counts.shape)


def both_ways(pairs: Sequence[tuple[int, int]]) -> dict[int, frozenset[int]]:
    """Of each document those it belongs together with.

    >>> both_ways([(0, 2), (1, 2)])
    {0: frozenset({2}), 2: frozenset({0, 1}), 1: frozenset({2})}
    """
    found: dict[int, set[int]] = {}
    for a, b in pairs:
        found.setdefault(a, set()).add(b)
        found.setdefault(b, set()).add(a)
    return {number: frozenset(others) for number, others in found.items()}


def hard_negatives(material: Material, most: int = 30) -> dict[int, Ints]:
    """Of each document that has answers, the wrong ones that words and phrases rank highest."""
    asked = np.array(sorted(material.answers), dtype=np.int64)
    everything = np.arange(len(material))
    found: dict[int, Ints] = {}
    for start in range(0, len(asked), BLOCK):
        rows = asked[start : start + BLOCK]
        scores = np.log(material.lexical(rows, everything) + 0.01).sum(0)
        for row, line in zip(rows.tolist(), scores, strict=True):
            line[[row, *material.answers[row]]] = -np.inf
            count = min(most, len(line) - 1)
            best = np.argpartition(-line, count)[:count] if count < len(line) else everything
            found[row] = np.sort(best[np.isfinite(line[best])])
    return found
