"""The sentences that SST's network reads: views sampled from the subtopics of a pair (SST sections 3.2 and 3.3).

Views can be reordered by how well they represent the documents (section 5.4, figure 7).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from cachetools import LRUCache

from longmatch.encoders.backbone import Vectors
from longmatch.lab.baselines.cross.selection import SelectedSentences, Selection, digest_of, sentence_count
from longmatch.lab.papers.sst.clustering import EXPECTED_SIZE, Clusters, spectral_clusters
from longmatch.lab.papers.sst.network import AdaptiveClustering
from longmatch.lab.papers.sst.views import SamplingMethod, ViewSampler
from longmatch.lab.words import Floats, TokenWords, concatenated, textrank_similarity, to_unit
from longmatch.lexical.terms import hash_word
from longmatch.units.tokens import Ints, Tokens

CACHED_PAIRS = 50_000  # whose subtopics are kept, a few hundred numbers each
BATCH_PAIRS = 128  # that a cluster network reads at a time
TokenPairs = Sequence[tuple[Tokens, Tokens]]
POOL = 40  # views of a pair


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
        first, second = (self.words.words(first_sentences(tokens, self.sentences)) for tokens in (a, b))
        return textrank_similarity(concatenated(first, second))


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
        sampler = ViewSampler(self.method, tokens=limit, seed=seed)
        return [sampler.draw(clusters, (a.document.id, b.document.id), view, lengths) for view in views]

    def clusters(self, a: Tokens, b: Tokens) -> Clusters:
        """The subtopics of a pair, cached."""
        key = self._key(a, b)
        if (clusters := self._recent.get(key)) is None:
            clusters = self._recent[key] = self.clustering.clusters_of_pairs([(a, b)])[0]
        return clusters

    def _key(self, a: Tokens, b: Tokens) -> bytes:
        return digest_of(a, self.sentences) + digest_of(b, self.sentences)


def first_sentences(tokens: Tokens, limit: int | None) -> Tokens:
    """A document truncated to its first `limit` sentences."""
    return tokens.truncated(int(tokens.sentence_offsets[sentence_count(tokens, limit)]))


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
            order = self._recent[key] = self._order(a, b, limit, seed)
        ids = hash_word(a.document.id), hash_word(b.document.id)
        ranks = [np.random.default_rng([seed, epoch, *ids]).integers(*self.part(epoch)) for epoch in views]
        return self.views.choose(a, b, limit, order[ranks].tolist(), seed)

    def part(self, epoch: int) -> tuple[int, int]:
        """The ranks, first and past the last, from which an epoch's view is drawn."""
        epoch = min(epoch, self.epochs - 1)
        first = epoch * self.width // self.epochs
        return first, max(first + 1, (epoch + 1) * self.width // self.epochs)

    def _order(self, a: Tokens, b: Tokens, limit: int, seed: int) -> Ints:
        """The numbers of the pool's views, the most likely first."""
        drawn = self.views.choose(a, b, limit, range(POOL), seed)
        sides = [(sentence_likelihoods(self.words, a), 0), (sentence_likelihoods(self.words, b), 1)]
        likelihood = [sum(_mean(*of_sentences, view[side]) for of_sentences, side in sides) for view in drawn]
        return np.argsort(-np.array(likelihood), kind="stable")


def sentence_likelihoods(words: TokenWords, document: Tokens) -> tuple[Floats, Ints]:
    """Of each sentence, the log likelihood of its words in the document's unigram model, and their number."""
    stream = words.words(document)
    _, place, counts = np.unique(stream.ids, return_inverse=True, return_counts=True)
    total = np.concatenate([[0.0], np.log(counts / max(1, len(stream.ids)))[place].cumsum()])
    return np.diff(total[stream.offsets]), np.diff(stream.offsets)


def _mean(likelihoods: Floats, lengths: Ints, sentences: Ints) -> float:
    return float(likelihoods[sentences].sum() / max(1, lengths[sentences].sum()))
