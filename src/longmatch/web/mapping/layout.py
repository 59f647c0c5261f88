"""Vectors of many numbers as places on a plane: documents that are alike lie near each other."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

LANDMARKS = 1_500  # documents laid out by t-SNE; the others are placed among their nearest ones
NEAREST = 4
WIDTH = 50  # dimensions that are left for t-SNE


def layout(vectors: Floats) -> Floats:
    """A place for each vector, from 0 to 1 in both directions: (vectors, 2). The same every time."""
    count = len(vectors)
    if count < 3:
        return np.array([[0.25 + 0.5 * i, 0.5] for i in range(count)], dtype=np.float32).reshape(count, 2)
    chosen = np.linspace(0, count - 1, min(count, LANDMARKS)).astype(int)
    landmarks = _tsne(vectors[chosen])
    return _framed(landmarks if len(chosen) == count else _among(vectors, vectors[chosen], landmarks))


def _tsne(vectors: Floats) -> Floats:
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    width = min(WIDTH, vectors.shape[1], len(vectors) - 1)
    spread = float(vectors.std())
    if spread < 1e-7:  # copies of one document
        return np.zeros((len(vectors), 2), dtype=np.float32)
    fewer = PCA(width, random_state=0).fit_transform(vectors)
    if len(vectors) < 10:
        return np.asarray(np.pad(fewer[:, :2], ((0, 0), (0, max(0, 2 - width)))), dtype=np.float32)
    perplexity = min(30.0, (len(vectors) - 1) / 4)
    return np.asarray(TSNE(2, perplexity=perplexity, init="pca", random_state=0, max_iter=600).fit_transform(fewer))


def _among(vectors: Floats, landmarks: Floats, places: Floats) -> Floats:
    """Each vector at the mean place of the landmarks most like it, the likest counting most."""
    found = np.empty((len(vectors), 2), dtype=np.float32)
    for start in range(0, len(vectors), 1024):
        likeness = vectors[start : start + 1024] @ landmarks.T  # (some, landmarks)
        near = np.argpartition(-likeness, NEAREST, axis=1)[:, :NEAREST]
        weights = np.exp(20 * np.take_along_axis(likeness, near, 1))
        found[start : start + 1024] = (places[near] * weights[..., None]).sum(1) / weights.sum(1, keepdims=True)
    return found


def _framed(places: Floats) -> Floats:
    """Moved and scaled into the unit square; directions keep their proportion."""
    low, high = places.min(0), places.max(0)
    size = float((high - low).max()) or 1.0
    return np.asarray((places - (low + high) / 2) / size + 0.5, dtype=np.float32)
