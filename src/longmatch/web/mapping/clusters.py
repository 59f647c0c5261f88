"""Which documents lie together: k-means over the documents' vectors, with as many clusters as fit best."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

MOST = 12  # clusters: more colours are hard to distinguish
JUDGED = 1_000  # documents that the number of clusters is chosen by


def cluster(vectors: Floats) -> Ints:
    """The cluster of each vector, the largest cluster first: (vectors,). The same every time."""
    count = len(vectors)
    if count < 4 or float(vectors.std()) < 1e-7:
        return np.zeros(count, dtype=np.int64)
    from sklearn.cluster import KMeans

    vectors = _apart(vectors)
    judged = vectors[np.linspace(0, count - 1, min(count, JUDGED)).astype(int)]
    best = max(range(2, min(MOST, len(judged) - 1) + 1), key=lambda k: _fit(judged, k))
    labels = KMeans(best, n_init=4, random_state=0).fit_predict(vectors)
    return by_size(np.asarray(labels, dtype=np.int64))


def _apart(vectors: Floats) -> Floats:
    """Without what all have in common, of length 1."""
    centred = vectors - vectors.mean(0)
    return np.asarray(centred / np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-9), dtype=np.float32)


def by_size(labels: Ints) -> Ints:
    """The same clusters numbered by their size, the largest 0; of equal ones, the one met first.

    >>> by_size(np.array([2, 1, 1, 0, 1, 0])).tolist()
    [2, 0, 0, 1, 0, 1]
    """
    found, first, counts = np.unique(labels, return_index=True, return_counts=True)
    order = np.lexsort((first, -counts))
    numbers = np.empty(len(found), dtype=np.int64)
    numbers[order] = np.arange(len(found))
    return numbers[np.searchsorted(found, labels)]


def _fit(vectors: Floats, k: int) -> float:
    """How well the clusters are separated: the mean silhouette."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    labels = KMeans(k, n_init=2, random_state=0).fit_predict(vectors)
    return float(silhouette_score(vectors, labels)) if 1 < len(set(labels.tolist())) < len(vectors) else -1.0
