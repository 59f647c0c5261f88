"""Which documents lie together: k-means over the documents' vectors, with as many clusters as fit best.

Documents that are hardly related have no clusters that stand apart: by the silhouette two halves, or a dozen pairs, are
then about as good as any number. Those are grouped by their places on the map, so that a group is one region of it,
into about as many groups as so many documents usually have.
"""

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from longmatch.web.mapping.layout import product

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

MOST = 12  # clusters: more colours are hard to distinguish
JUDGED = 1_000  # documents that the number of clusters is chosen by
STARTS = 2  # of k-means for each number of clusters
REGION_STARTS = 8  # of k-means over places, which are cheap and vary more
WEAK = 0.12  # silhouette below which clusters hardly stand apart: those of the example collection have 0.13
ROUNDS = 100  # of k-means, at most; most starts settle earlier
SAME = 1e-6  # squared distance below which two vectors of length 1 are one


def cluster(vectors: Floats, places: Floats | None = None) -> Ints:
    """The cluster of each vector, the largest cluster first: (vectors,). The same every time.

    places: where each lies on the map: (vectors, 2); without, hardly related ones are grouped by their vectors.
    """
    count = len(vectors)
    if count < 4 or float(np.ptp(vectors, axis=0).max()) < 1e-7:
        return np.zeros(count, dtype=np.int64)
    vectors = centred_units(vectors)
    chosen = np.linspace(0, count - 1, min(count, JUDGED)).astype(int)
    judged, distances = vectors[chosen], distance_matrix(vectors[chosen])
    grouped, (best, score) = vectors, _best(judged, range(2, MOST + 1), STARTS, distances)
    usual, number = usual_numbers(count), int(best.max()) + 1
    if score < WEAK and (2 * number <= usual.start + 1 or number >= usual.stop):
        grouped = vectors if places is None else places
        judged = grouped[chosen]
        best, _ = _best(judged, usual, REGION_STARTS, distances)
    if len(judged) < count:
        centres = np.stack([judged[best == n].mean(0) for n in np.unique(best)])
        best = np.asarray(settle(grouped, centres[None])[0])
    found, first, counts = np.unique(best, return_index=True, return_counts=True)
    by_size = np.lexsort((first, -counts))  # of equal ones, the one met first
    return np.argsort(by_size)[np.searchsorted(found, best)]


def usual_numbers(documents: int) -> range:
    """How many groups a number of documents has if nothing separates them: the root of half of it, up to twice that.

    >>> usual_numbers(36), usual_numbers(8), usual_numbers(5000)
    (range(4, 9), range(2, 5), range(12, 13))
    """
    least = min(MOST, max(2, round((documents / 2) ** 0.5)))
    return range(least, min(MOST, 2 * least) + 1)


def _best(points: Floats, numbers: range, starts: int, distances: Floats) -> tuple[Ints, float]:
    """The clusters of points that are best separated by the distances of their documents, and how well they are."""
    fitting = [k for k in numbers if k < len(points)]
    tried = [labels for k in fitting for labels in k_means(points, k, starts)]
    scores = [silhouette(distances, labels) for labels in tried]
    best = int(np.argmax(scores))
    return tried[best], scores[best]


def centred_units(vectors: Floats) -> Floats:
    """Without what all have in common, of length 1."""
    centred = vectors - vectors.mean(0)
    return np.asarray(centred / np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-9), dtype=np.float32)


def distance_matrix(vectors: Floats) -> Floats:
    """Of every two vectors: (vectors, vectors)."""
    lengths = np.square(vectors).sum(1)
    squared = lengths[:, None] + lengths - 2 * product(vectors, vectors.T)
    np.fill_diagonal(squared, 0)
    return np.asarray(np.sqrt(np.maximum(squared, 0)), dtype=np.float32)


def silhouette(distances: Floats, labels: Ints) -> float:
    """How well clusters are separated, from -1 to 1: the mean over documents of (b - a) / max(a, b) (Rousseeuw 1987).

    a is the mean distance to the others of the document's cluster, b that to the nearest other cluster; a document
    alone in its cluster counts 0. One cluster alone, or as many as documents, gives -1.

    distances: of every two documents: (documents, documents).

    >>> apart = np.abs(np.subtract.outer([0, 1, 9, 10], [0, 1, 9, 10])).astype(np.float32)
    >>> round(silhouette(apart, np.array([0, 0, 1, 1])), 3)
    0.889
    """
    _, labels, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    if not 1 < len(sizes) < len(labels):
        return -1.0
    rows = np.arange(len(labels))
    sums = distances @ (labels[:, None] == np.arange(len(sizes))).astype(np.float32)  # (documents, clusters)
    within = sums[rows, labels] / np.maximum(sizes[labels] - 1, 1)
    means = sums / sizes
    means[rows, labels] = np.inf
    nearest = means.min(1)
    scores = (nearest - within) / np.maximum(np.maximum(nearest, within), 1e-12)
    return float(np.where(sizes[labels] > 1, scores, 0).mean())


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
