"""Vectors of many numbers as places on a plane: documents that are alike lie near each other."""

import numpy as np
import numpy.typing as npt

from longmatch.web.mapping.products import product
from longmatch.web.mapping.tsne import tsne

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
    landmarks = _places(vectors[chosen])
    return _framed(landmarks if len(chosen) == count else _among(vectors, vectors[chosen], landmarks))


def _places(vectors: Floats) -> Floats:
    if float(np.ptp(vectors, axis=0).max()) < 1e-7:  # copies of one document
        return np.zeros((len(vectors), 2), dtype=np.float32)
    fewer = principal(vectors, WIDTH)
    fewer = np.pad(fewer, ((0, 0), (0, max(0, 2 - fewer.shape[1]))))
    return fewer[:, :2] if len(vectors) < 10 else tsne(fewer, perplexity=min(30.0, (len(vectors) - 1) / 4))


def principal(vectors: Floats, width: int) -> Floats:
    """The vectors along their `width` principal directions, or as many as there are: (vectors, width).

    A randomised SVD (Halko, Martinsson and Tropp 2011); the sign of a direction is that of its farthest vector.
    """
    centred = np.asarray(vectors - vectors.mean(0), dtype=np.float32)
    spread = product(centred.T, centred)  # (dimensions, dimensions)
    basis = np.random.default_rng(0).standard_normal((len(spread), min(*centred.shape, width + 10)), dtype=np.float32)
    for _ in range(6):
        basis = _orthonormal(product(spread, basis))
    found = product(centred, basis)
    _, turned = np.linalg.eigh(product(found.T, found))
    found = product(found, turned[:, ::-1][:, :width])
    farthest = found[np.abs(found).argmax(0), np.arange(found.shape[1])]
    return np.asarray(found * np.where(farthest < 0, -1, 1), dtype=np.float32)


def _orthonormal(columns: Floats) -> Floats:
    """Columns of length 1 at right angles that span the same: (rows, as many as are independent)."""
    exact = columns.astype(np.float64)
    sizes, turned = np.linalg.eigh(product(exact.T, exact))
    kept = sizes > 1e-10 * sizes[-1]
    return product(exact, turned[:, kept] / np.sqrt(sizes[kept])).astype(np.float32)


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
    return np.asarray(np.clip((places - (low + high) / 2) / size + 0.5, 0, 1), dtype=np.float32)
