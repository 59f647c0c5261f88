"""Which documents share most words with another: the non-matches that are hard to tell from matches."""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.sparse import csr_array

from longmatch.units import TokenShelf
from longmatch.units.tokens import Ints

NEAREST = 40  # as many as a first stage hands on to be ranked anew
AT_A_TIME = 256  # queries: memory is this many rows of the pool
K1, B = 1.2, 0.75


class NearDocuments:
    """BM25 over the tokens of a pool of documents, on the shelf as they lie."""

    def __init__(self, shelf: TokenShelf, pool: Ints) -> None:
        self.shelf, self.pool = shelf, pool
        counts = token_counts(shelf, pool)
        lengths = np.maximum(np.asarray(counts.sum(axis=1)), 1.0)
        documents = np.bincount(counts.indices, minlength=counts.shape[1])  # that hold a token
        rarity = np.log1p((len(pool) - documents + 0.5) / (documents + 0.5))
        damping = K1 * (1 - B + B * lengths / lengths.mean())
        rows = np.repeat(np.arange(len(pool)), np.diff(counts.indptr))
        weights = rarity[counts.indices] * counts.data * (K1 + 1) / (counts.data + damping[rows])
        self._weights = csr_array((weights.astype(np.float32), counts.indices, counts.indptr), shape=counts.shape)

    def nearest(self, queries: Ints, most: int = NEAREST) -> Iterator[Ints]:
        """Of each query the documents of the pool that share most with it, best first; never the query itself."""
        for first in range(0, len(queries), AT_A_TIME):
            some = queries[first : first + AT_A_TIME]
            asked = token_counts(self.shelf, some, self._weights.shape[1])
            asked.data[:] = 1.0
            scores = (asked @ self._weights.T).toarray()
            scores[some[:, None] == self.pool] = -np.inf
            for row in scores:
                yield self.pool[np.argsort(-row, kind="stable")[: min(most, np.isfinite(row).sum())]]


def token_counts(shelf: TokenShelf, documents: Sequence[int] | Ints, width: int | None = None) -> csr_array:
    """How often each token stands in each document: (documents, tokens); tokens from `width` on are left out."""
    found = [
        np.unique(shelf.piece(int(number), 0, int(shelf.lengths[number])), return_counts=True) for number in documents
    ]
    if width is not None:
        found = [(tokens[tokens < width], counts[tokens < width]) for tokens, counts in found]
    none = np.zeros(0, dtype=np.int64)
    tokens, counts = (np.concatenate([none, *column]) for column in zip(*found, strict=True)) if found else (none, none)
    ends = np.cumsum([0, *(len(tokens) for tokens, _ in found)])
    return csr_array(
        (counts.astype(np.float64), tokens, ends), shape=(len(found), width or int(tokens.max(initial=0)) + 1)
    )
