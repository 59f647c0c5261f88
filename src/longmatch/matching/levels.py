"""Best partners and group-by-group scores of two documents' sentences, by matrix product and segment reduction.

The product is taken in slices, so that two documents of any length compare in bounded memory.

What similarity to expect by chance, from vectors of unrelated passages.

A sentence finds a partner of cosine 0.3 to 0.6 in any long document, and a better one the longer that document is. So
every best cosine is compared with the best one would find among as many unrelated sentences:

    corrected = (cosine - expected) / (1 - expected)

which is 0 for an unrelated document, whatever its length, and 1 for a sentence found word for word.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from longmatch.ragged import Array, array_namespace, segment_max, segment_mean

SIZES = (1, 4, 16, 64, 256, 1024, 4096, 16384)
"""The numbers of sentences for which expectations are tabled; between them, interpolation in the logarithm."""

MOST_DRAWN, STEP = 16, 0.9  # as the sentences that are shipped for MiniLM show, of which there are many
SLICE = 1024  # sentences of one document at a time


@dataclass(frozen=True)
class SentenceVectors:
    """Sentences of a document or a collection."""

    vectors: Array  # (sentences, width)
    expectations: Array  # by chance: (sentences, sizes)

    def __len__(self) -> int:
        return len(self.vectors)


@dataclass(frozen=True)
class Partners:
    """For every sentence its best partner in the other document, the cosine, and the cosine corrected for chance."""

    index: Array
    cosine: Array
    corrected: Array


BothPartners = tuple[Partners, Partners]
"""Those of the sentences of a document in another, and of the other's in the first."""


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
    a_expected = a.expectations @ _weights_of(len(b), a.expectations)
    b_expected = b.expectations @ _weights_of(len(a), b.expectations)
    return (
        Partners(*forward, corrected(forward[1], a_expected)),
        Partners(b_index, b_cosine, corrected(b_cosine, b_expected)),
    )


def _weights_of(size: int, like: Array) -> Array:
    """The weights over SIZES for one document, where the array `like` is."""
    xp = array_namespace(like)
    weights: Array = interpolation(xp.asarray(np.array([size]), device=like.device))[0]
    return weights


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
    xp = array_namespace(a.vectors)
    best = xp.concat([segment_max(cosines, b_offsets).T for _, cosines in _slices(a, b)])  # (sentences a, groups b)
    expected = a.expectations @ interpolation(b_offsets[1:] - b_offsets[:-1]).T
    return segment_mean(corrected(best, expected), a_offsets)


def _slices(a: SentenceVectors, b: SentenceVectors) -> Iterator[tuple[int, Array]]:
    """The cosines (sentences b, slice of a), with the number of the slice's first sentence."""
    for start in range(0, len(a), SLICE):
        yield start, b.vectors @ a.vectors[start : start + SLICE].T


@dataclass(frozen=True)
class Background:
    """Vectors of unrelated sentences: (sentences, width), each of length 1; equally many of each kind of text."""

    vectors: Array
    kinds: int = 1  # of text: papers, judgments, ... or of languages
    extrapolates: bool = False  # beyond MOST_DRAWN, where there are few sentences of a kind
    name: str = ""  # identifies what was encoded, where the vectors' last digits depend on the processor

    @property
    def general(self) -> Array:
        """The sentences of general text, which come first."""
        return self.vectors[: len(self.vectors) // self.kinds]

    def expectations(self, vectors: Array, rows: int = 1024) -> Array:
        """For each vector, the best cosine to expect among SIZES unrelated sentences: (units, len(SIZES)).

        The expected maximum of m draws from n sorted values v is the sum of v_k ((k/n)^m - ((k-1)/n)^m). They are drawn
        from the kind of text that offers most: what every paper says is no surprise between two papers.
        """
        xp = array_namespace(vectors)
        count = len(self.vectors) // self.kinds
        ranks = np.arange(count + 1) / count
        weights = np.diff(ranks[:, None] ** np.array(SIZES, dtype=np.float64), axis=0)  # (sentences, sizes)
        weights = xp.asarray(weights, dtype=vectors.dtype, device=vectors.device)
        kinds = [self.vectors[start : start + count] for start in range(0, len(self.vectors), count)]

        def expected(part: Array) -> Array:
            found = xp.max(xp.stack([xp.sort(part @ kind.T, axis=1) @ weights for kind in kinds]), axis=0)
            return extrapolated(found) if self.extrapolates else found

        parts = [expected(vectors[start : start + rows]) for start in range(0, len(vectors), rows)]
        nothing: Array = xp.zeros((0, len(SIZES)), dtype=vectors.dtype, device=vectors.device)
        return xp.concat(parts) if parts else nothing


def extrapolated(expected: Array) -> Array:
    """The expectations for more than MOST_DRAWN sentences by those for fewer: (units, len(SIZES)).

    Each step to four times as many sentences adds a little less than the one before.
    """
    xp = array_namespace(expected)
    columns = [expected[:, number] for number, size in enumerate(SIZES) if size <= MOST_DRAWN]
    while len(columns) < len(SIZES):
        columns.append((columns[-1] + STEP * (columns[-1] - columns[-2])).clip(max=1.0))
    every_size: Array = xp.stack(columns, axis=1)
    return every_size


def interpolation(sizes: Array) -> Array:
    """Weights over SIZES for documents of `sizes` sentences: (documents, len(SIZES)).

    >>> interpolation(np.array([4, 8]))[:, :3].tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.5, 0.5]]
    """
    xp = array_namespace(sizes)
    place = xp.log2(xp.astype(sizes.clip(min=1), xp.float32)) / 2  # SIZES are powers of four
    last = len(SIZES) - 1
    numbers = xp.arange(len(SIZES), dtype=xp.float32, device=sizes.device)
    weights: Array = (1 - abs(place.clip(max=last)[:, None] - numbers)).clip(min=0)
    return weights


def corrected(best: Array, expected: Array) -> Array:
    """How far a best cosine lies between what chance gives (0) and identity (1)."""
    share: Array = (best - expected) / (1 - expected).clip(min=1e-6)
    return share
