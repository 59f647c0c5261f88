"""Views of a pair of documents: sentences of each, sampled by subtopic (SST section 3.3, equations 7 to 9)."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from longmatch.lab.baselines.cross.selection import SelectedSentences
from longmatch.lab.papers.sst.clustering import Clusters
from longmatch.lab.words import Floats
from longmatch.lexical.terms import hash_word
from longmatch.units.tokens import Ints

SamplingMethod = Literal["uniform", "hard", "soft", "negative", "random"]


@dataclass(frozen=True)
class ViewSampler:
    """Draws views. A document's view holds `sentences` sentences, or sentences until one does not fit into `tokens`; at
    least one, and all if there is room.

    A view depends only on the seed, the documents' ids and the view's number, not on earlier draws.
    """

    method: SamplingMethod = "soft"
    sentences: int | None = None
    tokens: int | None = None
    seed: int = 0

    def draw(
        self, clusters: Clusters, ids: tuple[str, str], number: int, lengths: tuple[Ints, Ints] | None = None
    ) -> SelectedSentences:
        """View `number` of the pair with these `ids`; `lengths` are tokens per sentence, if `tokens` limits it."""
        names = [hash_word(id) for id in ids]
        views = []
        for side, labels in enumerate(clusters.sides):
            rng = np.random.default_rng([self.seed, number, names[side], names[1 - side]])
            if self.method == "random":
                order = _consecutive(rng, len(labels), self.sentences, self.tokens, lengths[side] if lengths else None)
            else:
                order = _roulette(rng, labels, stages(self.method, clusters, side))
            views.append(self._fill(order, lengths[side] if lengths else None))
        return SelectedSentences(*views)

    def _fill(self, order: Iterator[int], lengths: Ints | None) -> Ints:
        chosen: list[int] = []
        tokens = 0
        for sentence in order:
            tokens += int(lengths[sentence]) if lengths is not None else 0
            if chosen and self.tokens is not None and tokens > self.tokens:
                break
            chosen.append(sentence)
            if len(chosen) == self.sentences:
                break
        return np.array(sorted(chosen), dtype=np.int64)


def stages(method: SamplingMethod, clusters: Clusters, side: int) -> list[Floats]:
    """The distributions over clusters that a document's view is drawn from, each after the previous is exhausted.

    uniform   equation 7: all clusters with equal probability
    hard      equation 8: the largest aligned cluster, then the others uniformly
    soft      equation 9, then the others uniformly
    negative  section 5.2, the opposite of hard: the least aligned cluster first, the largest last
    """
    uniform = np.full(clusters.count, 1.0 / max(1, clusters.count))
    single = np.eye(clusters.count)
    if method == "hard":
        return [uniform] if clusters.primary is None else [single[clusters.primary], uniform]
    if method == "soft":
        return [clusters.soft[side], uniform]
    if method == "negative":
        return list(single[np.lexsort((clusters.sizes[0] + clusters.sizes[1], clusters.common))])
    return [uniform]


def _roulette(rng: np.random.Generator, labels: Ints, distributions: list[Floats]) -> Iterator[int]:
    """The operation rand of equation 7, repeated: roulette wheel selection of a cluster, then one of its sentences.

    No sentence is drawn twice; a cluster without sentences left is off the wheel.
    """
    count = len(distributions[0]) if distributions else 0
    shuffled = rng.permutation(len(labels))
    ordered = shuffled[np.argsort(labels[shuffled], kind="stable")].tolist()
    left = np.bincount(labels, minlength=count)
    ends = left.cumsum().tolist()
    members = [ordered[first:last] for first, last in pairwise([0, *ends])]
    for weights in distributions:
        wheel = np.cumsum(weights * (left > 0)).tolist()
        while count and wheel[-1] > 0:
            cluster = bisect_right(wheel, rng.random() * wheel[-1])
            yield members[cluster].pop()
            left[cluster] -= 1
            if not left[cluster]:
                wheel = np.cumsum(weights * (left > 0)).tolist()


def _consecutive(
    rng: np.random.Generator, count: int, sentences: int | None, tokens: int | None, lengths: Ints | None
) -> Iterator[int]:
    """Section 5.2's random view: consecutive sentences from a random position that leaves enough text to fill it."""
    last = count - 1 if sentences is not None or tokens is not None else 0
    if sentences is not None:
        last = min(last, max(0, count - sentences))
    if tokens is not None and lengths is not None:
        rest = lengths[::-1].cumsum()[::-1]  # tokens from each sentence to the end
        last = min(last, max(0, int((rest >= tokens).sum()) - 1))
    return iter(range(int(rng.integers(max(0, last) + 1)), count))
