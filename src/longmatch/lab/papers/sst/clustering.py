"""Direct clustering: sentences of both documents into subtopics (SST section 3.2, equation 2).

A sixth of all eigenvectors is wanted, so a dense solver is faster at every size than a sparse one (`--judge` of
benchmarks/clustering.py); its time grows with the third power of the number of sentences. It runs on one thread:
matrices this small gain little from more, and beside other work threads wait for each other for many times as long.
"""

from functools import cache

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh, qr, svd
from scipy.sparse.csgraph import connected_components
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from longmatch.lab.words.similarity import Floats

Ints = npt.NDArray[np.int64]

EXPECTED_SIZE = 6.0  # sentences of a cluster (section 4.3)


def spectral_clusters(similarity: Floats, size: float = EXPECTED_SIZE) -> Ints:
    """Spectral clustering into clusters of `size` sentences on average: the cluster of each, in order of appearance.

    The eigenvectors of the normalised graph Laplacian (Shi and Malik) are cut into clusters by a pivoted QR
    factorisation (Damle, Minden and Ying 2019, `cluster_qr` in scikit-learn) in place of k-means: nothing in it is
    drawn, and it does not depend on the basis in which the solver gives the eigenvectors. Sentences that no chain of
    shared words connects never come together, so there are at least as many clusters as connected parts; a sentence
    with no neighbour is a cluster of its own.

    >>> ring = np.kron(np.eye(2), np.ones((6, 6)))
    >>> spectral_clusters(ring).tolist()
    [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]
    """
    if not len(similarity):
        return np.empty(0, dtype=np.int64)
    graph = similarity - np.diag(np.diag(similarity))
    degrees = graph.sum(axis=0)
    lone = degrees <= 0
    parts, _ = connected_components(graph, directed=False)
    alone = int(lone.sum())
    count = max(parts, alone + round((len(graph) - alone) / size))
    graph[lone, lone] = degrees[lone] = 1.0
    roots = np.sqrt(degrees)
    with _threads().limit(limits=1, user_api="blas"):
        return in_order(_cut(_leading_vectors(graph / roots[:, None] / roots, count)))


@cache
def _threads() -> ThreadpoolController:
    """What sets the number of threads; finding the libraries it does so for takes longer than clustering."""
    return ThreadpoolController()


def _leading_vectors(matrix: Floats, count: int) -> Floats:
    """The eigenvectors of the largest eigenvalues, those smallest of the Laplacian I - matrix: (sentences, count)."""
    size = len(matrix)
    found: Floats = eigh(matrix, subset_by_index=[size - count, size - 1], driver="evr")[1]
    return found


def _cut(vectors: Floats) -> Ints:
    """Each row's cluster: the rows that span the space best are its axes, and a row belongs to its nearest axis."""
    count = vectors.shape[1]
    pivots = qr(vectors.T, mode="r", pivoting=True)[1][:count]
    left, _, right = svd(vectors[pivots].T)
    labels: Ints = np.abs(vectors @ (left @ right)).argmax(axis=1)
    return labels


def in_order(labels: Ints) -> Ints:
    """The same clusters, numbered as they appear, without gaps.

    >>> in_order(np.array([7, 7, 2, 7, 5])).tolist()
    [0, 0, 1, 0, 2]
    """
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]
