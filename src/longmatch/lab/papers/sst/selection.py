"""Which sentences SST reads of two documents: views, drawn from the subtopics of the pair (SST section 3)."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Protocol

import numpy as np

from longmatch.encoders.backbone import Vectors
from longmatch.lab.baselines.cross.selection import SelectedSentences, Selection
from longmatch.lab.papers.sst.adaptive import AdaptiveClustering
from longmatch.lab.papers.sst.alignment import Clusters
from longmatch.lab.papers.sst.clustering import EXPECTED_SIZE, spectral_clusters
from longmatch.lab.papers.sst.views import Method, Sampling
from longmatch.lab.words.similarity import Floats, textrank_similarity, to_unit
from longmatch.lab.words.text_words import concatenated
from longmatch.lab.words.token_words import TokenWords
from longmatch.units.tokens import Ints, Tokens

REMEMBERED = 20_000  # pairs, of some hundred numbers each
TOGETHER = 128  # pairs that a cluster network reads at a time
Pairs = Sequence[tuple[Tokens, Tokens]]


class Clustering(Protocol):
    """Finds the subtopics of a pair, in the first sentences of both documents."""

    def clusters(self, a: Tokens, b: Tokens) -> Clusters:
        """The subtopic of each sentence."""

    def of_pairs(self, pairs: Pairs) -> list[Clusters]:
        """The same of many pairs, in their order."""

    def similarity(self, a: Tokens, b: Tokens) -> Floats:
        """How alike it takes the sentences to be, a's before b's, from 0 to 1: (sentences, sentences)."""


@dataclass(frozen=True)
class DirectClustering:
    """By shared words alone (equations 1 and 2)."""

    words: TokenWords
    size: float = EXPECTED_SIZE
    sentences: int | None = 40  # of a document

    def clusters(self, a: Tokens, b: Tokens) -> Clusters:
        """The subtopic of each sentence."""
        return Clusters.of(spectral_clusters(self._shared(a, b), self.size), sentence_count(a, self.sentences))

    def of_pairs(self, pairs: Pairs) -> list[Clusters]:
        """One after another."""
        return [self.clusters(a, b) for a, b in pairs]

    def similarity(self, a: Tokens, b: Tokens) -> Floats:
        """TextRank's, brought to 0 to 1."""
        return to_unit(self._shared(a, b))

    def _shared(self, a: Tokens, b: Tokens) -> Floats:
        first, second = (self.words.words(first_sentences(tokens, self.sentences)) for tokens in (a, b))
        return textrank_similarity(concatenated(first, second))


@dataclass(frozen=True)
class NetworkClustering:
    """By a trained cluster network (equations 3 to 6), which reads sentence vectors made beforehand or when needed."""

    network: AdaptiveClustering
    vectors: Callable[[Sequence[Tokens]], Sequence[Vectors]]  # of documents, many at a time

    def clusters(self, a: Tokens, b: Tokens) -> Clusters:
        """The subtopic of each sentence: the one it most likely belongs to."""
        return self.of_pairs([(a, b)])[0]

    def of_pairs(self, pairs: Pairs) -> list[Clusters]:
        """All of them in one pass of the network, as far as it holds them."""
        sides = self._sides(pairs)
        parts = [self.network.assign_vectors(sides[at : at + TOGETHER]) for at in range(0, len(sides), TOGETHER)]
        found = (assigned for part in parts for assigned in part)
        return [Clusters.of(assigned, len(first)) for assigned, (first, _) in zip(found, sides, strict=True)]

    def similarity(self, a: Tokens, b: Tokens) -> Floats:
        """The cosine of the sentence vectors, negative ones as 0."""
        found = np.concatenate(self._sides([(a, b)])[0]).astype(np.float64)
        return np.clip(found @ found.T, 0.0, 1.0)

    def _sides(self, pairs: Pairs) -> list[tuple[Vectors, Vectors]]:
        most, documents = self.network.model.config.max_sentences, [tokens for pair in pairs for tokens in pair]
        made = zip(documents, self.vectors(documents), strict=True)
        cut = [vectors[: sentence_count(tokens, most)] for tokens, vectors in made]
        return list(zip(cut[::2], cut[1::2], strict=True))


@dataclass(frozen=True)
class SubtopicViews(Selection):
    """Draws the views of a pair. Its subtopics are found once, however many views and epochs follow."""

    clustering: Clustering
    method: Method = "soft"
    sentences: int | None = 40  # of a document; what the clustering leaves out is never drawn
    _known: OrderedDict[bytes, Clusters] = field(default_factory=OrderedDict, repr=False, compare=False)

    def prepare(self, pairs: Pairs) -> None:
        """Find the subtopics of those pairs whose are not known."""
        if self.method == "random":
            return
        missing = {key: pair for pair in pairs if (key := self._key(*pair)) not in self._known}
        for key, found in zip(missing, self.clustering.of_pairs(list(missing.values())), strict=True):
            self._keep(key, found)

    def choose(self, a: Tokens, b: Tokens, limit: int, views: Sequence[int], seed: int) -> list[SelectedSentences]:
        """The sentences of each view: as many as fit into `limit` tokens, in reading order."""
        found = self._one_for_all(a, b) if self.method == "random" else self.clusters(a, b)
        lengths = _lengths(a, len(found.a)), _lengths(b, len(found.b))
        sampling = Sampling(self.method, tokens=limit, seed=seed)
        drawn = (sampling.draw(found, (a.document.id, b.document.id), view, lengths) for view in views)
        return [SelectedSentences(view.a, view.b) for view in drawn]

    def clusters(self, a: Tokens, b: Tokens) -> Clusters:
        """The subtopics of a pair, as found the last time where that is not long ago."""
        key = self._key(a, b)
        if key not in self._known:
            self._keep(key, self.clustering.clusters(a, b))
        self._known.move_to_end(key)
        return self._known[key]

    def _keep(self, key: bytes, found: Clusters) -> None:
        self._known[key] = found
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)

    def _key(self, a: Tokens, b: Tokens) -> bytes:
        return _digest(a, self.sentences) + _digest(b, self.sentences)

    def _one_for_all(self, a: Tokens, b: Tokens) -> Clusters:
        """Random views know nothing of subtopics."""
        first, second = (sentence_count(tokens, self.sentences) for tokens in (a, b))
        return Clusters(np.zeros(first, dtype=np.int64), np.zeros(second, dtype=np.int64), 1)


def sentence_count(tokens: Tokens, most: int | None) -> int:
    """Of a document's sentences, how many may be read."""
    count = len(tokens.sentence_offsets) - 1
    return count if most is None else min(most, count)


def first_sentences(tokens: Tokens, most: int | None) -> Tokens:
    """A document as if it ended after so many sentences."""
    return tokens.truncated(int(tokens.sentence_offsets[sentence_count(tokens, most)]))


def _lengths(tokens: Tokens, count: int) -> Ints:
    return np.diff(tokens.sentence_offsets[: count + 1])


def _digest(tokens: Tokens, most: int | None) -> bytes:
    """Of all that subtopics may depend on: the document's name, its first sentences, their tokens and words."""
    found = blake2b(tokens.document.id.encode("utf-8", "surrogatepass"), digest_size=16)
    offsets = tokens.sentence_offsets[: sentence_count(tokens, most) + 1]
    end = int(offsets[-1])
    for array in (offsets, tokens.ids[:end], tokens.word_starts[:end]):
        found.update(np.ascontiguousarray(array).tobytes())
    return found.digest()
