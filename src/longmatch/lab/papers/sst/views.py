"""Views of a pair of documents: sentences of each, drawn by their subtopics (SST section 3.3, equations 7 to 9)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from longmatch.lab.papers.sst.alignment import Clusters
from longmatch.lab.papers.sst.clustering import Ints
from longmatch.lab.words.similarity import Floats
from longmatch.lexical.terms import hash_word

Method = Literal["uniform", "hard", "soft", "negative", "random"]


@dataclass(frozen=True)
class View:
    """Numbers of sentences of both documents, in reading order."""

    a: Ints
    b: Ints


@dataclass(frozen=True)
class Sampling:
    """How views are drawn. A document's view holds `sentences` sentences, or as many as come before one no longer fits
    into `tokens`; it holds one at least, and all where there is room.

    A view depends on the seed, the documents' ids and the view's number alone, not on what was drawn before it.
    """

    method: Method = "soft"
    sentences: int | None = None
    tokens: int | None = None
    seed: int = 0

    def draw(
        self, clusters: Clusters, ids: tuple[str, str], number: int, lengths: tuple[Ints, Ints] | None = None
    ) -> View:
        """View `number` of a pair. `lengths` are the sentences' tokens, where a view is bounded by tokens."""
        names = [hash_word(id) for id in ids]
        views = []
        for side, labels in enumerate(clusters.sides):
            rng = np.random.default_rng([self.seed, number, names[side], names[1 - side]])
            if self.method == "random":
                order = _window(rng, len(labels), self.sentences, self.tokens, lengths[side] if lengths else None)
            else:
                order = _draws(rng, labels, stages(self.method, clusters, side))
            views.append(self._fill(order, lengths[side] if lengths else None))
        return View(*views)

    def _fill(self, order: Iterator[int], lengths: Ints | None) -> Ints:
        taken: list[int] = []
        tokens = 0
        for sentence in order:
            tokens += int(lengths[sentence]) if lengths is not None else 0
            if taken and self.tokens is not None and tokens > self.tokens:
                break
            taken.append(sentence)
            if len(taken) == self.sentences:
                break
        return np.array(sorted(taken), dtype=np.int64)


def stages(method: Method, clusters: Clusters, side: int) -> list[Floats]:
    """The distributions over clusters that a document's view is drawn from: the next once one is used up.

    uniform   equation 7: all clusters alike
    hard      equation 8: the largest aligned cluster, then the others alike
    soft      equation 9, then the others alike
    negative  section 5.2, the opposite of hard: the least aligned cluster, then the next, the largest at last
    """
    even = np.full(clusters.count, 1.0 / max(1, clusters.count))
    each = np.eye(clusters.count)
    if method == "hard":
        return [even] if clusters.primary is None else [each[clusters.primary], even]
    if method == "soft":
        return [clusters.soft[side], even]
    if method == "negative":
        return list(each[np.lexsort((clusters.sizes[0] + clusters.sizes[1], clusters.common))])
    return [even]


def _draws(rng: np.random.Generator, labels: Ints, distributions: list[Floats]) -> Iterator[int]:
    """The operation rand of equation 7, over and over: spin the wheel for a cluster, take one of its sentences.

    A sentence is taken once; a cluster without any left is off the wheel.
    """
    count = len(distributions[0]) if distributions else 0
    shuffled = rng.permutation(len(labels))
    members = [shuffled[labels[shuffled] == cluster].tolist() for cluster in range(count)]
    left = np.array([len(m) for m in members], dtype=np.int64)
    for weights in distributions:
        wheel = np.cumsum(weights * (left > 0))
        while count and wheel[-1] > 0:
            cluster = int(np.searchsorted(wheel, rng.random() * wheel[-1], side="right"))
            yield int(members[cluster].pop())
            left[cluster] -= 1
            if not left[cluster]:
                wheel = np.cumsum(weights * (left > 0))


def _window(
    rng: np.random.Generator, count: int, sentences: int | None, tokens: int | None, lengths: Ints | None
) -> Iterator[int]:
    """Section 5.2's random view: consecutive sentences from anywhere, but not so late that the text ends too soon."""
    last = count - 1 if sentences is not None or tokens is not None else 0
    if sentences is not None:
        last = min(last, max(0, count - sentences))
    if tokens is not None and lengths is not None:
        rest = lengths[::-1].cumsum()[::-1]  # tokens from each sentence to the end
        last = min(last, max(0, int((rest >= tokens).sum()) - 1))
    return iter(range(int(rng.integers(max(0, last) + 1)), count))
