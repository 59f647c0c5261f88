"""Vectors of many numbers as places on a plane: documents that are alike lie near each other.

By t-SNE (van der Maaten and Hinton 2008): places where neighbours remain neighbours. The gradient is exact. A pair is
visited once: a block holds the pairs of some rows with each other and with all later rows.
"""

from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Real = TypeVar("Real", np.float32, np.float64)

LANDMARKS = 1_500  # documents laid out by t-SNE; the others are placed among their nearest ones
NEAREST = 4
WIDTH = 50  # dimensions that are left for t-SNE
SINGLE = 1 << 18  # multiplications up to which OpenBLAS stays on one thread
EXAGGERATION = 4.0
STAGES = ((250, 0.5, EXAGGERATION), (350, 0.8, 1.0))  # rounds, momentum, and how much the similarities are exaggerated
REACH = 3  # a vector's neighbours are the REACH x perplexity nearest vectors; others are not similar to it
FAR = 1e5  # squared distance from the origin at which rounding could make a distance negative
PAIRS = SINGLE // 4  # in a block: few enough for the cache and for BLAS to stay on one thread


def layout(vectors: Floats) -> Floats:
    """A place for each vector, from 0 to 1 in both directions: (vectors, 2). The same every time."""
    count = len(vectors)
    if count < 3:
        return np.array([[0.25 + 0.5 * i, 0.5] for i in range(count)], dtype=np.float32).reshape(count, 2)
    chosen = np.linspace(0, count - 1, min(count, LANDMARKS)).astype(int)
    places = _places(vectors[chosen])
    if len(chosen) < count:
        places = _among(vectors, vectors[chosen], places)
    low, high = places.min(0), places.max(0)
    size = float((high - low).max()) or 1.0  # directions keep their proportion
    return np.asarray(np.clip((places - (low + high) / 2) / size + 0.5, 0, 1), dtype=np.float32)


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
    for _ in range(6):  # columns of length 1 at right angles, as many as are independent
        exact = product(spread, basis).astype(np.float64)
        sizes, turned = np.linalg.eigh(product(exact.T, exact))
        kept = sizes > 1e-10 * sizes[-1]
        basis = product(exact, turned[:, kept] / np.sqrt(sizes[kept])).astype(np.float32)
    found = product(centred, basis)
    _, directions = np.linalg.eigh(product(found.T, found))
    found = product(found, directions[:, ::-1][:, :width])
    farthest = found[np.abs(found).argmax(0), np.arange(found.shape[1])]
    return np.asarray(found * np.where(farthest < 0, -1, 1), dtype=np.float32)


def _among(vectors: Floats, landmarks: Floats, places: Floats) -> Floats:
    """Each vector at the mean place of the landmarks most like it, the likest counting most."""
    found = np.empty((len(vectors), 2), dtype=np.float32)
    for start in range(0, len(vectors), 1024):
        likeness = vectors[start : start + 1024] @ landmarks.T  # (some, landmarks)
        near = np.argpartition(-likeness, NEAREST, axis=1)[:, :NEAREST]
        weights = np.exp(20 * np.take_along_axis(likeness, near, 1))
        found[start : start + 1024] = (places[near] * weights[..., None]).sum(1) / weights.sum(1, keepdims=True)
    return found


def product(left: npt.NDArray[Real], right: npt.NDArray[Real]) -> npt.NDArray[Real]:
    """left @ right on one thread, piece by piece: (rows, inner) x (inner, columns) -> (rows, columns).

    BLAS spreads large products over all cores. Where other work keeps a core busy, every such product waits for that
    core, many times as long as it takes to compute. Pieces too small to be spread wait for nothing, and their sums are
    the same with any number of cores.
    """
    (rows, inner), columns = left.shape, right.shape[1]
    found = np.empty((rows, columns), dtype=left.dtype)
    width = max(1, min(columns, int((SINGLE / inner) ** 0.5)))
    height = max(1, SINGLE // (inner * width))
    for i in range(0, rows, height):
        for j in range(0, columns, width):
            np.matmul(left[i : i + height], right[:, j : j + width], out=found[i : i + height, j : j + width])
    return found


def tsne(vectors: Floats, perplexity: float) -> Floats:
    """A place for each vector: (vectors, 2). The same every time.

    vectors: along their principal directions, in order; the first two say where the places start.
    perplexity: how many neighbours of a vector count, roughly.
    """
    pairs = Pairs(joint_similarities(vectors, perplexity))
    places = np.ascontiguousarray(vectors[:, :2].T, dtype=np.float32)  # (2, vectors)
    places *= 1e-4 / max(float(places[0].std()), 1e-12)
    rate = max(len(vectors) / EXAGGERATION / 4, 5.0)
    for rounds, momentum, exaggeration in STAGES:
        step, gains = np.zeros_like(places), np.ones_like(places)
        for _ in range(rounds):
            gradient = pairs.gradient(places, exaggeration)
            gains = np.maximum(np.where(step * gradient < 0, gains + 0.2, gains * 0.8), 0.01)
            step = momentum * step - rate * gains * gradient
            places = places + step
    return places.T


def joint_similarities(vectors: Floats, perplexity: float) -> Floats:
    """p of equation 1 with its variances, made symmetric: (vectors, vectors), in all 1."""
    lengths = np.square(vectors).sum(1)
    squared = np.maximum(lengths[:, None] + lengths - 2 * product(vectors, vectors.T), 0)
    np.fill_diagonal(squared, np.inf)
    reach = min(len(vectors) - 1, int(REACH * perplexity) + 1)
    near = np.argpartition(squared, reach - 1, axis=1)[:, :reach]
    similarities = np.zeros_like(squared)
    np.put_along_axis(similarities, near, gaussian_shares(np.take_along_axis(squared, near, 1), perplexity), 1)
    return np.asarray((similarities + similarities.T) / (2 * len(vectors)), dtype=np.float32)


def gaussian_shares(squared: Floats, perplexity: float) -> Floats:
    """Shares of each row's neighbours by squared distance, as wide as gives the perplexity: (rows, neighbours).

    The width is found by bisection, for all rows at once.
    """
    squared = squared - squared.min(1, keepdims=True)
    squared /= np.maximum(squared.mean(1, keepdims=True), 1e-12)
    low, high = np.full((len(squared), 1), -12.0, np.float32), np.full((len(squared), 1), 12.0, np.float32)
    for _ in range(30):
        middle = (low + high) / 2
        energies = squared * np.exp(middle)
        shares = np.exp(-energies)
        total = shares.sum(1, keepdims=True)
        entropy = np.log(total) + (shares * energies).sum(1, keepdims=True) / total
        wide = entropy > np.log(perplexity)
        low, high = np.where(wide, middle, low), np.where(wide, high, middle)
    return np.asarray(shares / total, dtype=np.float32)


class Block(NamedTuple):
    """Some rows: their pairs with each other (the first columns) and with all later rows."""

    rows: slice
    similarities: Floats  # (rows, columns)
    kernel: Floats  # (rows, columns): 1 / (1 + squared distance) on the plane


class Pairs:
    """All pairs of vectors with their similarities, each pair in one block."""

    def __init__(self, similarities: Floats) -> None:
        self._blocks: list[Block] = []
        start, count = 0, len(similarities)
        while start < count:
            rows = slice(start, min(count, start + max(1, PAIRS // (count - start))))
            part = np.ascontiguousarray(similarities[rows, start:])
            self._blocks.append(Block(rows, part, np.empty_like(part)))
            start = rows.stop
        self._weights = np.empty(max(block.kernel.size for block in self._blocks), dtype=np.float32)

    def gradient(self, places: Floats, exaggeration: float) -> Floats:
        """4 sum_j (e p_ij - q_ij) (y_i - y_j) / (1 + |y_i - y_j|^2), equation 5 with exaggeration e: (2, vectors)."""
        squares, ones = np.square(places).sum(0, keepdims=True), np.ones((1, places.shape[1]), dtype=np.float32)
        # the products of their columns are 1 + squared distance
        left, right = np.concatenate([-2 * places, squares + 1, ones]), np.concatenate([places, ones, squares])
        far = float(squares.max()) > FAR
        sums = []
        for rows, _, kernel in self._blocks:
            np.matmul(left[:, rows].T, right[:, rows.start :], out=kernel)
            if far:
                np.maximum(kernel, 1, out=kernel)
            np.reciprocal(kernel, out=kernel)
            np.fill_diagonal(kernel, 0)
            sums.append(2 * float(kernel.sum()) - float(kernel[:, : len(kernel)].sum()))
        scale = 1 / (exaggeration * sum(sums))
        points = np.concatenate([places, ones])  # (3, vectors)
        forces = np.zeros_like(points)
        for rows, similarities, kernel in self._blocks:  # each point times its weight, both ways
            weights = self._weights[: kernel.size].reshape(kernel.shape)  # (p - scale x kernel) x kernel
            np.multiply(kernel, -scale, out=weights)
            np.add(weights, similarities, out=weights)
            np.multiply(weights, kernel, out=weights)
            for point, force in zip(points, forces, strict=True):  # three vectors are faster than one matrix
                force[rows] += weights @ point[rows.start :]
                force[rows.stop :] += point[rows] @ weights[:, len(kernel) :]
        return np.asarray(4 * exaggeration * (places * forces[2] - forces[:2]), dtype=np.float32)
