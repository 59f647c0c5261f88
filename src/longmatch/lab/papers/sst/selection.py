"""The sentences that SST's network reads: views sampled from the subtopics of a pair (sections 3.2 and 3.3).

Views can be reordered by how well they represent the documents (section 5.4, figure 7).
"""

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import numpy as np
from cachetools import LRUCache

from longmatch.encoders.backbone import Vectors
from longmatch.lab.baselines.cross.selection import SelectedSentences, Selection, digest_of, sentence_count
from longmatch.lab.papers.sst.clustering import EXPECTED_SIZE, Clusters, spectral_clusters
from longmatch.lab.papers.sst.network import AdaptiveClustering
from longmatch.lab.words import Floats, TokenWords, textrank_similarity, to_unit
from longmatch.lexical.terms import Stream, hash_word
from longmatch.units.tokens import Ints, Tokens

SamplingMethod = Literal["uniform", "hard", "soft", "negative", "random"]
CACHED_PAIRS = 50_000  # whose subtopics are kept, a few hundred numbers each
BATCH_PAIRS = 128  # that a cluster network reads at a time
TokenPairs = Sequence[tuple[Tokens, Tokens]]
POOL = 40  # views of a pair


def draw_view(
    method: SamplingMethod,
    clusters: Clusters,
    ids: tuple[str, str],
    number: int,
    lengths: tuple[Ints, Ints],
    limit: int,
    seed: int = 0,
) -> SelectedSentences:
    """View `number` of the pair with these `ids`: sentences of each document, until one does not fit into `limit`.

    At least one sentence, and all if there is room; `lengths` and `limit` are in tokens. A view depends only on the
    seed, the ids and the number, not on earlier draws.
    """
    names, views = [hash_word(id) for id in ids], []
    for side, labels in enumerate(clusters.sides):
        rng = np.random.default_rng([seed, number, names[side], names[1 - side]])
        if method == "random":  # section 5.2: consecutive sentences, from where enough text is left to fill the view
            left = lengths[side][::-1].cumsum()[::-1]  # tokens from each sentence to the end
            first = int(rng.integers(max(1, int((left >= limit).sum()))))
            order = iter(range(first, len(labels)))
        else:
            order = _roulette(rng, labels, stages(method, clusters, side))
        chosen: list[int] = []
        tokens = 0
        for sentence in order:
            tokens += int(lengths[side][sentence])
            if chosen and tokens > limit:
                break
            chosen.append(sentence)
        views.append(np.array(sorted(chosen), dtype=np.int64))
    return SelectedSentences(*views)


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


class Clustering(ABC):
    """Finds the subtopics of a pair in the first sentences of both documents."""

    @abstractmethod
    def clusters_of_pairs(self, pairs: TokenPairs) -> list[Clusters]:
        """The subtopic of each sentence, for many pairs, in their order."""

    @abstractmethod
    def similarity(self, a: Tokens, b: Tokens) -> Floats:
        """The sentence similarities it uses, from 0 to 1, a's sentences before b's: (sentences, sentences)."""


@dataclass(frozen=True)
class DirectClustering(Clustering):
    """By shared words (equations 1 and 2)."""

    words: TokenWords
    size: float = EXPECTED_SIZE
    sentences: int | None = 40  # per document

    def clusters_of_pairs(self, pairs: TokenPairs) -> list[Clusters]:
        """The subtopics of each pair in turn."""
        labels = (spectral_clusters(self._textrank(a, b), self.size) for a, b in pairs)
        return [Clusters.of(of, sentence_count(a, self.sentences)) for of, (a, _) in zip(labels, pairs, strict=True)]

    def similarity(self, a: Tokens, b: Tokens) -> Floats:
        """TextRank's similarity, scaled to 0 to 1."""
        return to_unit(self._textrank(a, b))

    def _textrank(self, a: Tokens, b: Tokens) -> Floats:
        words = []
        for tokens in (a, b):
            end = int(tokens.sentence_offsets[sentence_count(tokens, self.sentences)])
            words.append(self.words.words(tokens.truncated(end)))
        return textrank_similarity(Stream.cat(words))


@dataclass(frozen=True)
class NetworkClustering(Clustering):
    """By a trained cluster network (equations 3 to 6), over sentence vectors that are precomputed or made on demand."""

    network: AdaptiveClustering
    vectors: Callable[[Sequence[Tokens]], Sequence[Vectors]]  # the sentence vectors of documents

    def clusters_of_pairs(self, pairs: TokenPairs) -> list[Clusters]:
        """The subtopics of all pairs, BATCH_PAIRS at a time."""
        sides = self._sides(pairs)
        batches = (sides[start : start + BATCH_PAIRS] for start in range(0, len(sides), BATCH_PAIRS))
        assignments = [assignment for batch in batches for assignment in self.network.assign_vectors(batch)]
        return [Clusters.of(b, len(first)) for b, (first, _) in zip(assignments, sides, strict=True)]

    def similarity(self, a: Tokens, b: Tokens) -> Floats:
        """The cosine of the sentence vectors, clipped at 0."""
        vectors = np.concatenate(self._sides([(a, b)])[0]).astype(np.float64)
        return np.clip(vectors @ vectors.T, 0.0, 1.0)

    def _sides(self, pairs: TokenPairs) -> list[tuple[Vectors, Vectors]]:
        limit, documents = self.network.model.config.max_sentences, [tokens for pair in pairs for tokens in pair]
        vectors = zip(documents, self.vectors(documents), strict=True)
        first = [rows[: sentence_count(tokens, limit)] for tokens, rows in vectors]
        return list(zip(first[::2], first[1::2], strict=True))


@dataclass(frozen=True)
class SubtopicViews(Selection):
    """Draws the views of pairs. The subtopics of a pair are found once and cached for all views and epochs."""

    clustering: Clustering
    method: SamplingMethod = "soft"
    sentences: int | None = 40  # per document, as in the clustering
    _recent: LRUCache[bytes, Clusters] = field(
        default_factory=lambda: LRUCache(CACHED_PAIRS), repr=False, compare=False
    )

    def prepare(self, pairs: TokenPairs) -> None:
        """Find the subtopics of the pairs that are not cached, together."""
        if self.method == "random":
            return
        missing = {key: pair for pair in pairs if (key := self._key(*pair)) not in self._recent}
        for key, clusters in zip(missing, self.clustering.clusters_of_pairs(list(missing.values())), strict=True):
            self._recent[key] = clusters

    def choose(self, a: Tokens, b: Tokens, limit: int, views: Sequence[int], seed: int) -> list[SelectedSentences]:
        """The sentences of each view: as many as fit into `limit` tokens, in reading order."""
        if self.method == "random":  # uses no subtopics
            first, second = (np.zeros(sentence_count(tokens, self.sentences), dtype=np.int64) for tokens in (a, b))
            clusters = Clusters(first, second, 1)
        else:
            clusters = self.clusters(a, b)
        lengths = np.diff(a.sentence_offsets[: len(clusters.a) + 1]), np.diff(b.sentence_offsets[: len(clusters.b) + 1])
        ids = a.document.id, b.document.id
        return [draw_view(self.method, clusters, ids, view, lengths, limit, seed) for view in views]

    def clusters(self, a: Tokens, b: Tokens) -> Clusters:
        """The subtopics of a pair, cached."""
        key = self._key(a, b)
        if (clusters := self._recent.get(key)) is None:
            clusters = self._recent[key] = self.clustering.clusters_of_pairs([(a, b)])[0]
        return clusters

    def _key(self, a: Tokens, b: Tokens) -> bytes:
        return digest_of(a, self.sentences) + digest_of(b, self.sentences)


@dataclass(frozen=True)
class ReorderedViews(Selection):
    """Epoch t reads one view from the t-th of `epochs` equal parts of the first `width` views of a pool of POOL.

    The pool is ordered by query likelihood: the mean log probability of a view's words under the language models of
    its documents, the highest first. All words of a view occur in its document, so nothing is smoothed.
    """

    views: Selection
    words: TokenWords
    width: int
    epochs: int
    _recent: LRUCache[bytes, Ints] = field(default_factory=lambda: LRUCache(CACHED_PAIRS), repr=False, compare=False)

    def prepare(self, pairs: TokenPairs) -> None:
        """As for the views themselves."""
        self.views.prepare(pairs)

    def choose(self, a: Tokens, b: Tokens, limit: int, views: Sequence[int], seed: int) -> list[SelectedSentences]:
        """The sentences of the view that each epoch reads; `views` are epochs."""
        key = digest_of(a) + digest_of(b)
        if (order := self._recent.get(key)) is None:
            likelihood = np.zeros(POOL)
            drawn = self.views.choose(a, b, limit, range(POOL), seed)
            for side, document in enumerate((a, b)):
                logs, counts = sentence_likelihoods(self.words, document)
                likelihood += [logs[view[side]].sum() / max(1, counts[view[side]].sum()) for view in drawn]
            order = self._recent[key] = np.argsort(-likelihood, kind="stable")  # the most likely first
        ids = hash_word(a.document.id), hash_word(b.document.id)
        ranks = [np.random.default_rng([seed, epoch, *ids]).integers(*self.part(epoch)) for epoch in views]
        return self.views.choose(a, b, limit, order[ranks].tolist(), seed)

    def part(self, epoch: int) -> tuple[int, int]:
        """The ranks, first and past the last, from which an epoch's view is drawn."""
        epoch = min(epoch, self.epochs - 1)
        first = epoch * self.width // self.epochs
        return first, max(first + 1, (epoch + 1) * self.width // self.epochs)


def sentence_likelihoods(words: TokenWords, document: Tokens) -> tuple[Floats, Ints]:
    """Of each sentence, the log likelihood of its words in the document's unigram model, and their number."""
    stream = words.words(document)
    _, place, counts = np.unique(stream.ids, return_inverse=True, return_counts=True)
    total = np.concatenate([[0.0], np.log(counts / max(1, len(stream.ids)))[place].cumsum()])
    return np.diff(total[stream.offsets]), np.diff(stream.offsets)
