"""Which sentences share the words and phrases that make two documents alike."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from longmatch.lexical.frequencies import Floats
from longmatch.lexical.terms import Hashes, Ints, Stream, lookup
from longmatch.lexical.weights import Weighted

PAIRS = 4_000_000  # sentence pairs looked at; the commonest terms, which link everything with everything, go first


@dataclass(frozen=True)
class Shared:
    """Terms both documents have, and how much of the similarity each carries."""

    ids: Hashes
    mass: Floats


@dataclass(frozen=True)
class Links:
    """For each sentence, the lexical evidence it carries and the sentence of the other document that shares most of it.

    A partner of -1 means that only very common terms are shared.
    """

    mass: Floats
    partner: Ints


def shared_terms(a: Weighted, b: Weighted) -> Shared:
    """The terms of both, by the part of the dot product each carries."""
    ids, mine, theirs = np.intersect1d(a.ids, b.ids, assume_unique=True, return_indices=True)
    return Shared(ids, a.values[mine] * b.values[theirs])


def link_sentences(
    streams: Sequence[tuple[Stream, Stream]], shared: Sequence[Shared], weights: Sequence[float]
) -> tuple[Links, Links]:
    """Spread each shared term's mass over the sentences it stands in, and link those that share most.

    Each entry of `streams` and `shared` is one kind of term (words, phrases); `weights` is what a unit of it is worth.
    """
    tables = [_tables(pair, terms, weight) for pair, terms, weight in zip(streams, shared, weights, strict=True)]
    a_counts, b_counts = (sp.hstack([t[i] for t in tables], format="csc") for i in (0, 1))  # (sentences, terms)
    mass = np.concatenate([t[2] for t in tables])
    a_total, b_total = _column_sums(a_counts), _column_sums(b_counts)
    a_mass = a_counts @ (mass / np.maximum(a_total, 1))
    b_mass = b_counts @ (mass / np.maximum(b_total, 1))
    pairs = np.diff(a_counts.indptr).astype(np.int64) * np.diff(b_counts.indptr)
    order = np.argsort(pairs, kind="stable")
    kept = np.sort(order[np.cumsum(pairs[order]) <= PAIRS])
    weighted = a_counts[:, kept] @ sp.diags_array(mass[kept] / np.maximum(a_total * b_total, 1)[kept])
    together = (weighted @ b_counts[:, kept].T).tocsr()  # (sentences a, sentences b)
    return Links(a_mass, _best_column(together)), Links(b_mass, _best_column(together.T.tocsr()))


def _tables(pair: tuple[Stream, Stream], terms: Shared, weight: float) -> tuple[sp.csc_array, sp.csc_array, Floats]:
    return _occurrences(pair[0], terms), _occurrences(pair[1], terms), terms.mass * weight


def _occurrences(stream: Stream, terms: Shared) -> sp.csc_array:
    """How often each shared term stands in each sentence: (sentences, terms)."""
    shape = (len(stream.offsets) - 1, len(terms.ids))
    if not len(terms.ids):
        return sp.csc_array(shape)
    position, present = lookup(terms.ids, stream.ids)
    ones = np.ones(int(present.sum()))
    return sp.csc_array(sp.coo_array((ones, (stream.sentence[present], position[present])), shape=shape))


def _column_sums(matrix: sp.csc_array) -> Floats:
    return np.asarray(matrix.sum(axis=0)).ravel()


def _best_column(matrix: sp.csr_array) -> Ints:
    """The column of each row's largest entry, -1 for an empty row."""
    best = np.full(matrix.shape[0], -1, dtype=np.int64)
    filled = np.flatnonzero(np.diff(matrix.indptr))
    if len(filled):
        best[filled] = np.asarray(matrix.argmax(axis=1)).ravel()[filled]
    return best
