"""The subtopics of a pair of documents: which both share, and which only one has (SST sections 3.2 and 3.3)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from longmatch.lab.papers.sst.clustering import Ints
from longmatch.lab.words.similarity import Floats


@dataclass(frozen=True)
class Clusters:
    """The subtopic of every sentence of two documents, numbered from 0 to `count`."""

    a: Ints  # (sentences of a,)
    b: Ints  # (sentences of b,)
    count: int  # m

    @staticmethod
    def of(labels: npt.ArrayLike, sentences: int) -> "Clusters":
        """From labels (all sentences,) or a soft assignment B (all sentences, clusters); a's `sentences` come first.

        Equations 7 to 9 count the sentences of a cluster, so of a soft assignment each sentence goes to its likeliest
        cluster, of equals to the first.
        """
        found = np.asarray(labels)
        hard = (found.argmax(axis=1) if found.ndim == 2 else found).astype(np.int64)
        count = found.shape[1] if found.ndim == 2 else int(hard.max(initial=-1)) + 1
        return Clusters(hard[:sentences], hard[sentences:], count)

    @property
    def sides(self) -> tuple[Ints, Ints]:
        """Both documents' labels."""
        return self.a, self.b

    @cached_property
    def sizes(self) -> tuple[Ints, Ints]:
        """|c_i| in a and in b: how many sentences of each are in each cluster."""
        return np.bincount(self.a, minlength=self.count), np.bincount(self.b, minlength=self.count)

    @cached_property
    def shares(self) -> tuple[Floats, Floats]:
        """p in a and in b (equation 9): each document's distribution over the clusters."""
        a, b = (size / max(1, size.sum()) for size in self.sizes)
        return a, b

    @cached_property
    def common(self) -> Ints:
        """min(|c_i| in a, |c_i| in b) (equations 8 and 9): what of a cluster can be paired off."""
        return np.minimum(*self.sizes)

    @property
    def aligned(self) -> npt.NDArray[np.bool_]:
        """The clusters with sentences of both documents; the others complement: they are of one document alone."""
        return self.common > 0

    @cached_property
    def alignment(self) -> Floats:
        """p^a of equation 9: each cluster's part of what can be paired off; nothing but zeros where nothing can."""
        found: Floats = self.common / max(1, self.common.sum())
        return found

    @property
    def primary(self) -> int | None:
        """M of equation 8: the largest aligned cluster, of equals the first; None where the two share none."""
        return int(self.common.argmax()) if self.aligned.any() else None

    @cached_property
    def soft(self) -> tuple[Floats, Floats]:
        """Q of equation 9 for a and for b: alignment times own share, brought to sum 1.

        Where the two share no cluster the equation is 0 / 0, and each document's own shares stand in.

        >>> pair = Clusters.of([0, 0, 0, 0, 1, 1, 2, 2] + [0, 0, 1, 1, 1, 1, 3, 3], 8)
        >>> [q.round(3).tolist() for q in pair.soft]
        [[0.667, 0.333, 0.0, 0.0], [0.333, 0.667, 0.0, 0.0]]
        """
        if not self.aligned.any():
            return self.shares
        a, b = (self.alignment * share / (self.alignment @ share) for share in self.shares)
        return a, b
