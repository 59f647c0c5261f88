"""What topic models share: a vocabulary, the similarity of topic proportions, and how they rank and explain."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from longmatch.lab.explanation import explained_match, group_grid, nearest_evidence
from longmatch.lexical.terms import Counts, Hashes, Stream, lookup
from longmatch.matching.match import Match
from longmatch.matching.matcher import Encoder, Scores
from longmatch.matching.sentences import Groups, Sentences
from longmatch.ragged import segment_sum

Floats = npt.NDArray[np.float64]
MAX_WORDS = 20_000
E = TypeVar("E")  # an encoded document
T = TypeVar("T")  # fitted topics


def topic_similarity(first: Floats, second: Floats) -> Floats:
    """1 minus the Jensen-Shannon divergence in bits: 1 for equal proportions, 0 for no topic in common.

    (n, topics) and (m, topics), with rows summing to 1 -> (n, m). A row of zeros is a text with unknown topics; its
    similarity to anything is 0.

    >>> topic_similarity(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])).round(4)
    array([[1.    , 0.6887, 0.    ],
           [0.    , 0.    , 0.    ]])
    """
    similarity = np.zeros((len(first), len(second)))
    entropy, known = _entropy(second), second.sum(1) > 0
    for number in np.flatnonzero(first.sum(1)).tolist():
        row = first[number]
        similarity[number] = 1 - _entropy((row + second) / 2) + (_entropy(row[None])[0] + entropy) / 2
    return np.where(known, similarity, 0.0).clip(0.0, 1.0)


def proportions(weights: Floats) -> Floats:
    """Each row divided by its sum; rows of zeros stay zero."""
    total = weights.sum(1, keepdims=True)
    return np.asarray(np.divide(weights, total, out=np.zeros_like(weights, dtype=np.float64), where=total > 0))


def _entropy(rows: Floats) -> Floats:
    """The entropy of each row, in bits."""
    logs = np.log2(rows, out=np.zeros_like(rows), where=rows > 0)
    return np.asarray(-(rows * logs).sum(1), dtype=np.float64)


def digest(text: Counts) -> bytes:
    """A digest of a text's words, to order texts independently of their input order."""
    return blake2b(text.ids.tobytes() + text.counts.tobytes(), digest_size=16).digest()


@dataclass(frozen=True)
class Vocabulary:
    """Words as sorted hashes."""

    ids: Hashes

    @staticmethod
    def of(texts: Sequence[Counts], common: float = 0.5, most: int = MAX_WORDS) -> "Vocabulary":
        """The words in at least two texts and at most the share `common` of them; at most the `most` frequent ones."""
        joined = np.concatenate([text.ids for text in texts]) if texts else np.empty(0, np.uint64)
        ids, frequency = np.unique(joined, return_counts=True)
        kept = (frequency >= 2) & (frequency <= max(2, common * len(texts)))
        ids, frequency = ids[kept], frequency[kept]
        return Vocabulary(np.sort(ids[np.argsort(-frequency, kind="stable")[:most]]))

    def __len__(self) -> int:
        return len(self.ids)

    def matrix(self, texts: Sequence[Counts]) -> sp.csr_array:
        """The count of each word in each text: (texts, words)."""
        lengths = [len(text.ids) for text in texts]
        words = np.concatenate([np.empty(0, np.uint64), *(text.ids for text in texts)])
        counts = np.concatenate([np.empty(0), *(text.counts for text in texts)])
        column, known = lookup(self.ids, words)
        row = np.repeat(np.arange(len(texts)), lengths)
        cells = counts[known].astype(np.float64), (row[known], column[known])
        return sp.csr_array(cells, shape=(len(texts), len(self)))


@dataclass(frozen=True)
class TopicProfile:
    """A document's sentences, their topic weights (sentences, topics), and the document's topic proportions."""

    sentences: Sentences
    topic_weights: Floats
    proportions: Floats  # (topics,)


@dataclass(frozen=True)
class TopicCollection(Generic[T]):
    """The topics of a collection (None if it has none), and the documents' topic proportions."""

    topics: T | None
    proportions: Floats  # (documents, topics)


class TopicMatcher(Encoder[E, TopicCollection[T]], Generic[E, T]):
    """Similarity of topic proportions: 1 minus their Jensen-Shannon divergence; topics are the collection's own."""

    @abstractmethod
    def fit(self, encodings: Sequence[E]) -> T | None:
        """The topics of some documents."""

    def fit_pair(self, a: E, b: E) -> T | None:
        """The topics of a single pair: those of both documents' paragraphs."""
        return self.fit([a, b])

    def proportions_of(self, encodings: Sequence[E], topics: T | None) -> Floats:
        """The topic proportions of documents: (documents, topics)."""
        rows = [self.profile(encoding, topics).proportions for encoding in encodings]
        return np.stack(rows) if rows else np.zeros((0, 1))

    @abstractmethod
    def profile(self, encoding: E, topics: T | None) -> TopicProfile:
        """The topics of a document and of its sentences."""

    def collect(self, encodings: Sequence[E]) -> TopicCollection[T]:
        """Fit the collection's topics, and compute each document's proportions."""
        topics = self.fit(encodings)
        return TopicCollection(topics, self.proportions_of(encodings, topics))

    def score(self, query: E, collection: TopicCollection[T]) -> Scores:
        """The topic similarity of a query with every document."""
        row = self.proportions_of([query], collection.topics)
        return np.asarray(topic_similarity(row, collection.proportions)[0])

    def explain(self, a: E, b: E, collection: TopicCollection[T] | None = None) -> Match:
        """By the collection's topics: a sentence contributes its topic weights times the other document's proportions.

        It is credited to the pair with the sentence of the other document that has the most similar topics.
        """
        topics = collection.topics if collection else self.fit_pair(a, b)
        x, y = self.profile(a, topics), self.profile(b, topics)
        vectors = _unit_rows(x.topic_weights), _unit_rows(y.topic_weights)
        gains = (mine.topic_weights @ theirs.proportions for mine, theirs in ((x, y), (y, x)))
        shares = [gain / max(float(gain.sum()), 1e-12) for gain in gains]

        def similarities(mine: Groups, theirs: Groups) -> npt.NDArray[np.float32]:
            """The topic similarity of every two groups of sentences."""
            sides = (proportions(segment_sum(e.topic_weights, g.offsets)) for e, g in ((x, mine), (y, theirs)))
            return topic_similarity(*sides).astype(np.float32)

        return explained_match(
            (x.sentences, y.sentences),
            vectors,
            nearest_evidence(vectors, (shares[0], shares[1])),
            lambda level: group_grid(x.sentences, y.sentences, level, similarities),
            part="topics",
            score=float(topic_similarity(x.proportions[None], y.proportions[None])[0, 0]),
            model=self.name,
        )


def paragraph_counts(stream: Stream, sentences: Sentences) -> list[Counts]:
    """The word counts of each paragraph of a document."""
    bounds = stream.offsets[sentences.paragraphs].tolist()
    return [Counts.of(stream.ids[start:end]) for start, end in pairwise(bounds)]


def _unit_rows(topic_weights: Floats) -> Floats:
    lengths = np.linalg.norm(topic_weights, axis=1, keepdims=True)
    return np.asarray(np.divide(topic_weights, lengths, out=np.zeros_like(topic_weights), where=lengths > 0))
