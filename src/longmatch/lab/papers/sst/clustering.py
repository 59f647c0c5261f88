"""The subtopics of a pair of documents: clusters of their sentences (SST section 3.2), and direct clustering.

Direct clustering needs a sixth of all eigenvectors, so a dense solver is faster than a sparse one at every size
(`--judge` of benchmarks/clustering.py); its time grows with the cube of the number of sentences. It runs on one thread:
matrices this small gain little from more, and under load the threads would mostly wait for each other.
"""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh, qr, svd
from scipy.sparse.csgraph import connected_components
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from longmatch.lab.words import Floats
from longmatch.units.tokens import Ints

EXPECTED_SIZE = 6.0  # sentences per cluster (section 4.3)


@dataclass(frozen=True)
class Clusters:
    """The subtopic of every sentence of two documents: clusters 0 to `count` - 1."""

    a: Ints  # (sentences of a,)
    b: Ints  # (sentences of b,)
    count: int  # m

    @staticmethod
    def of(labels: npt.ArrayLike, sentences: int) -> "Clusters":
        """From labels (all sentences,) or a soft assignment B (all sentences, clusters); the first `sentences` are a's.

        Equations 7 to 9 count the sentences of a cluster, so a soft assignment is reduced to each sentence's most
        likely cluster, the first of several equal ones.
        """
        values = np.asarray(labels)
        hard = (values.argmax(axis=1) if values.ndim == 2 else values).astype(np.int64)
        count = values.shape[1] if values.ndim == 2 else int(hard.max(initial=-1)) + 1
        return Clusters(hard[:sentences], hard[sentences:], count)

    @property
    def sides(self) -> tuple[Ints, Ints]:
        """Both documents' labels."""
        return self.a, self.b

    @cached_property
    def sizes(self) -> tuple[Ints, Ints]:
        """|c_i| in a and in b: the number of sentences in each cluster."""
        return np.bincount(self.a, minlength=self.count), np.bincount(self.b, minlength=self.count)

    @cached_property
    def shares(self) -> tuple[Floats, Floats]:
        """p in a and in b (equation 9): each document's distribution over the clusters."""
        a, b = (size / max(1, size.sum()) for size in self.sizes)
        return a, b

    @cached_property
    def common(self) -> Ints:
        """min(|c_i| in a, |c_i| in b) (equations 8 and 9): how many sentences of each cluster can be paired."""
        return np.minimum(*self.sizes)

    @property
    def aligned(self) -> npt.NDArray[np.bool_]:
        """Which clusters have sentences of both documents; the others are supplementary."""
        return self.common > 0

    @cached_property
    def alignment(self) -> Floats:
        """p^a of equation 9: each cluster's share of the pairable sentences; all zeros if there are none."""
        shares: Floats = self.common / max(1, self.common.sum())
        return shares

    @property
    def primary(self) -> int | None:
        """M of equation 8: the largest aligned cluster, the first of several equal ones; None if there is none."""
        return int(self.common.argmax()) if self.aligned.any() else None

    @cached_property
    def soft(self) -> tuple[Floats, Floats]:
        """Q of equation 9 for a and for b: alignment times the document's share, normalised.

        Without an aligned cluster the equation is 0 / 0, and the document's shares are used.

        >>> pair = Clusters.of([0, 0, 0, 0, 1, 1, 2, 2] + [0, 0, 1, 1, 1, 1, 3, 3], 8)
        >>> [q.round(3).tolist() for q in pair.soft]
        [[0.667, 0.333, 0.0, 0.0], [0.333, 0.667, 0.0, 0.0]]
        """
        if not self.aligned.any():
            return self.shares
        a, b = (self.alignment * share / (self.alignment @ share) for share in self.shares)
        return a, b


def spectral_clusters(similarity: Floats, size: float = EXPECTED_SIZE) -> Ints:
    """Equation 2, spectral clustering into clusters of `size` sentences on average: the cluster of each sentence.

    Clusters are numbered in order of appearance. The eigenvectors of the normalised graph Laplacian (Shi and Malik) are
    split into clusters by a pivoted QR factorisation (Damle, Minden and Ying 2019, `cluster_qr` in scikit-learn)
    instead of k-means: it is deterministic and does not depend on the basis the solver returns. Sentences that no chain
    of shared words connects are never in one cluster, so there are at least as many clusters as connected components;
    a sentence without neighbours is a cluster by itself.

    >>> ring = np.kron(np.eye(2), np.ones((6, 6)))
    >>> spectral_clusters(ring).tolist()
    [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]
    """
    if not len(similarity):
        return np.empty(0, dtype=np.int64)
    graph = similarity - np.diag(np.diag(similarity))
    degrees = graph.sum(axis=0)
    isolated = degrees <= 0
    components, _ = connected_components(graph, directed=False)
    singles = int(isolated.sum())
    count = max(components, singles + round((len(graph) - singles) / size))
    graph[isolated, isolated] = degrees[isolated] = 1.0
    roots = np.sqrt(degrees)
    with _threads().limit(limits=1, user_api="blas"):
        largest = (len(graph) - count, len(graph) - 1)  # the smallest eigenvalues of the Laplacian I - matrix
        vectors = eigh(graph / roots[:, None] / roots, subset_by_index=largest, driver="evr")[1]  # (sentences, count)
        # The rows that span the space best become axes, and each row belongs to the nearest.
        pivots = qr(vectors.T, mode="r", pivoting=True)[1][:count]
        left, _, right = svd(vectors[pivots].T)
        return renumbered(np.abs(vectors @ (left @ right)).argmax(axis=1))


@cache
def _threads() -> ThreadpoolController:
    """Cached, as finding the BLAS libraries takes longer than clustering."""
    return ThreadpoolController()


def renumbered(labels: Ints) -> Ints:
    """The same clusters, numbered in order of appearance without gaps.

    >>> renumbered(np.array([7, 7, 2, 7, 5])).tolist()
    [0, 0, 1, 0, 2]
    """
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]
