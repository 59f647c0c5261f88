"""Best partners and group-by-group scores of two documents' sentences, by matrix product and segment reduction.

The product is taken in slices, so that two documents of any length compare in bounded memory.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from longmatch.matching.chance import corrected, interpolation
from longmatch.ragged import Array, array_namespace, as_numbers, segment_max, segment_mean, segment_slices

SLICE = 1024  # sentences of one document at a time
ROOM = 1 << 25  # cells of a product with many documents


@dataclass(frozen=True)
class SentenceVectors:
    """Sentences of a document or a collection."""

    vectors: Array  # (sentences, width)
    expectations: Array  # by chance: (sentences, sizes)

    def __len__(self) -> int:
        return len(self.vectors)

    @staticmethod
    def cat(parts: Sequence["SentenceVectors"]) -> "SentenceVectors":
        """Concatenate the sentences of several documents."""
        xp = array_namespace(parts[0].vectors)
        return SentenceVectors(
            xp.concat([part.vectors for part in parts]), xp.concat([part.expectations for part in parts])
        )


@dataclass(frozen=True)
class Partners:
    """For every sentence its best partner in the other document, the cosine, and the cosine corrected for chance."""

    index: Array
    cosine: Array
    corrected: Array


BothPartners = tuple[Partners, Partners]
"""Those of the sentences of a document in another, and of the other's in the first."""


def partners_score(partners: BothPartners) -> float:
    """The sentence score of two documents: the mean of what their sentences find, both directions averaged."""
    return sum(float(as_numbers(one.corrected).mean()) for one in partners) / 2


def best_partners(a: SentenceVectors, b: SentenceVectors, apart: tuple[Array, Array] | None = None) -> BothPartners:
    """The best partner of each sentence of a in b, and of each sentence of b in a.

    `apart` numbers the sentences' groups in a and in b; sentences of the same number are no partners.
    """
    xp = array_namespace(a.vectors)
    place = a.vectors.device
    a_index, a_cosine = [], []
    b_cosine = xp.full((len(b),), -2.0, dtype=xp.float32, device=place)
    b_index = xp.zeros(len(b), dtype=xp.int64, device=place)
    for start, product in _slices(a, b):
        cosines = product
        if apart is not None:
            same = apart[1][:, None] == apart[0][None, start : start + product.shape[1]]
            cosines = xp.where(same, -1.0, product)
        a_index.append(xp.argmax(cosines, axis=0))
        a_cosine.append(xp.max(cosines, axis=0))
        value = xp.max(cosines, axis=1)
        better = value > b_cosine
        b_index = xp.where(better, xp.argmax(cosines, axis=1) + start, b_index)
        b_cosine = xp.where(better, value, b_cosine)
    forward = (xp.concat(a_index), xp.concat(a_cosine)) if a_index else (b_index[:0], b_cosine[:0])
    return _partners(a, *forward, len(b)), _partners(b, b_index, b_cosine, len(a))


def _partners(sentences: SentenceVectors, index: Array, cosine: Array, size: int) -> Partners:
    expected = sentences.expectations @ _weights_of(size, sentences.expectations)
    return Partners(index, cosine, corrected(cosine, expected))


def _weights_of(size: int, like: Array) -> Array:
    """The weights over SIZES for one document, where the array `like` is."""
    xp = array_namespace(like)
    return interpolation(xp.asarray(np.array([size]), device=like.device))[0]


def group_scores(a: SentenceVectors, b: SentenceVectors, a_offsets: Array, b_offsets: Array) -> Array:
    """The sentence score of every group of a with every group of b, both directions averaged:
    (groups of a, groups of b).

    Groups are runs of sentences: sections, paragraphs or chunks.
    """
    forward = directed_group_scores(a, b, a_offsets, b_offsets)  # (groups a, groups b)
    backward = directed_group_scores(b, a, b_offsets, a_offsets)  # (groups b, groups a)
    return (forward + backward.T) / 2


def directed_group_scores(a: SentenceVectors, b: SentenceVectors, a_offsets: Array, b_offsets: Array) -> Array:
    """How well the sentences of each group of a find partners in each group of b: (groups of a, groups of b)."""
    return segment_mean(best_in_groups(a, b, b_offsets), a_offsets)


def best_in_groups(a: SentenceVectors, b: SentenceVectors, b_offsets: Array) -> Array:
    """For each sentence of a, the best it finds in each group of b, corrected for chance: (sentences a, groups b)."""
    xp = array_namespace(a.vectors)
    best = [segment_max(cosines, b_offsets).T for _, cosines in _slices(a, b)]
    expected = a.expectations @ interpolation(b_offsets[1:] - b_offsets[:-1]).T
    return corrected(xp.concat(best), expected)


def _slices(a: SentenceVectors, b: SentenceVectors) -> Iterator[tuple[int, Array]]:
    """The cosines (sentences b, slice of a), with the number of the slice's first sentence."""
    for start in range(0, len(a), SLICE):
        yield start, b.vectors @ a.vectors[start : start + SLICE].T


def collection_scores(query: SentenceVectors, documents: SentenceVectors, offsets: Array, room: int = ROOM) -> Array:
    """The sentence score of one document with every document of a collection, both directions averaged: (documents,).

    `documents` holds the sentences of all documents, which begin at `offsets`. Documents are taken together until the
    product reaches `room` cells.
    """
    xp = array_namespace(query.vectors)
    results = []
    for product in _products(query, documents, offsets, room):
        forward = corrected(_float(segment_max(product.cosines, product.offsets)), product.forward).mean(1)
        best = corrected(_float(xp.max(product.cosines, axis=1)), product.backward)
        backward = segment_mean(best[:, None], product.offsets)[:, 0]
        results.append((forward + backward) / 2)
    return xp.concat(results) if results else query.vectors[:0, 0]


def collection_partners(
    query: SentenceVectors, documents: SentenceVectors, offsets: Array, room: int = ROOM
) -> list[BothPartners]:
    """`best_partners` of one document with every document of a collection, given as for `collection_scores`."""
    xp = array_namespace(query.vectors)
    results = []
    for product in _products(query, documents, offsets, room):
        index, cosine = xp.argmax(product.cosines, axis=1), _float(xp.max(product.cosines, axis=1))
        backward = index, cosine, corrected(cosine, product.backward)
        for (start, end), expected in zip(pairwise(product.offsets.tolist()), product.forward, strict=True):
            cosines = product.cosines[start:end]
            best = _float(xp.max(cosines, axis=0))
            there = Partners(xp.argmax(cosines, axis=0), best, corrected(best, expected))
            results.append((there, Partners(*(column[start:end] for column in backward))))
    return results


@dataclass(frozen=True)
class _Product:
    """The sentences of some documents with those of a query."""

    cosines: Array  # (sentences, query sentences)
    offsets: Array  # of the documents' sentences
    forward: Array  # by chance, for each query sentence in each document: (documents, query sentences)
    backward: Array  # by chance, for each sentence of the documents in the query


def _products(query: SentenceVectors, documents: SentenceVectors, offsets: Array, room: int) -> Iterator[_Product]:
    """Documents are taken together until the product reaches `room` cells."""
    xp = array_namespace(query.vectors)
    size = len(query)
    weights = _weights_of(size, query.expectations)
    turned = xp.astype(query.vectors, documents.vectors.dtype).T
    for first, last in segment_slices(offsets.tolist(), room // max(1, size)):
        local = offsets[first : last + 1]
        rows = slice(int(local[0]), int(local[-1]))
        local = local - local[0]
        expected = interpolation(local[1:] - local[:-1]) @ query.expectations.T
        yield _Product(documents.vectors[rows] @ turned, local, expected, documents.expectations[rows] @ weights)


def _float(values: Array) -> Array:
    xp = array_namespace(values)
    return xp.astype(values, xp.float32, copy=False)
