"""K-means: vectors grouped around centres, each vector with the nearest one."""

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from longmatch.web.mapping.products import product

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

ROUNDS = 100  # at most; most starts settle earlier
SAME = 1e-6  # squared distance below which two vectors of length 1 are one


def k_means(vectors: Floats, k: int, starts: int) -> Ints:
    """The group of each vector, numbers below `k`, from each of several starts: (starts, vectors). The same every time.

    vectors: of length 1 at most.
    """
    chance = np.random.default_rng(0)
    return settle(vectors, np.stack([_seeds(vectors, k, chance) for _ in range(starts)]))


def settle(vectors: Floats, centres: Floats) -> Ints:
    """The group of each vector once centres and groups agree, for each start: (starts, vectors).

    Lloyd's algorithm, all starts at once: a product of matrices finds the nearest centres, another the groups' means.

    centres: where each start begins: (starts, k, dimensions).
    """
    labels, distances = _nearest(vectors, centres)
    for _ in range(ROUNDS):
        centres = _centres(vectors, labels, distances, centres.shape[1])
        before = labels
        labels, distances = _nearest(vectors, centres)
        if np.array_equal(before, labels):
            break
    return labels


def _seeds(vectors: Floats, k: int, chance: np.random.Generator) -> Floats:
    """First centres by k-means++ (Arthur and Vassilvitskii 2007): vectors, drawn by their distance to those drawn.

    Of several drawn at a time, the one that leaves the least distance is kept. (k, dimensions)
    """
    chosen = [int(chance.integers(len(vectors)))]
    left = _squared(vectors, vectors[chosen])[:, 0]  # to the nearest centre: (vectors,)
    for _ in range(k - 1):
        drawn = chance.random(2 + int(np.log(k))) * left.sum(dtype=np.float64)
        tried = np.minimum(np.searchsorted(left.cumsum(dtype=np.float64), drawn), len(vectors) - 1)
        lefts = np.minimum(left[:, None], _squared(vectors, vectors[tried]))  # (vectors, tried)
        best = int(lefts.sum(0).argmin())
        chosen.append(int(tried[best]))
        left = lefts[:, best]
    return vectors[chosen]


def _nearest(vectors: Floats, centres: Floats) -> tuple[Ints, Floats]:
    """The nearest of each start's centres, and how far it is: both (starts, vectors)."""
    starts, k, width = centres.shape
    squared = _squared(vectors, centres.reshape(-1, width)).reshape(-1, starts, k)
    return squared.argmin(2).T, squared.min(2).T


def _centres(vectors: Floats, labels: Ints, distances: Floats, k: int) -> Floats:
    """The mean of each group, of an empty one the vector farthest from its centre: (starts, k, dimensions)."""
    starts, count = labels.shape
    groups = labels + k * np.arange(starts)[:, None]  # numbered across starts: (starts, vectors)
    sizes = np.bincount(groups.ravel(), minlength=starts * k).reshape(starts, k)
    ones, places = np.ones(labels.size, dtype=np.float32), np.tile(np.arange(count), starts)
    members = csr_array((ones, (groups.ravel(), places)), shape=(starts * k, count))
    sums = (members @ vectors).reshape(starts, k, -1)
    centres = sums / np.maximum(sizes, 1)[..., None]
    for start, empty in zip(*np.nonzero(sizes == 0), strict=True):
        farthest = int(distances[start].argmax())
        centres[start, empty] = vectors[farthest]
        distances[start, farthest] = 0
    return np.asarray(centres, dtype=np.float32)


def _squared(vectors: Floats, centres: Floats) -> Floats:
    """Squared distances, very small ones as 0: (vectors, centres)."""
    lengths = (np.square(vectors).sum(1)[:, None], np.square(centres).sum(1))
    squared = lengths[0] + lengths[1] - 2 * product(vectors, centres.T)
    return np.where(squared < SAME, np.float32(0), squared)
