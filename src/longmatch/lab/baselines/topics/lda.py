"""LDA: topics as distributions over words, documents as distributions over topics.

D. M. Blei, A. Y. Ng, M. I. Jordan: "Latent Dirichlet Allocation", Journal of Machine Learning Research 3, 2003; fitted
as in M. D. Hoffman, D. M. Blei, F. Bach: "Online Learning for Latent Dirichlet Allocation", NIPS 2010.

First what BERTopic shares: vocabulary, similarity of topic proportions, and its explanation.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from longmatch.documents.document import Document
from longmatch.lab.explanation import explained_match, group_grid, nearest_evidence
from longmatch.lexical.matcher import LexicalEncoding
from longmatch.lexical.terms import Counts, Hashes, Kind, Stream, lookup, terms_of
from longmatch.matching.match import Match
from longmatch.matching.matcher import Encoder, Progress, Scores
from longmatch.matching.sentences import Groups, Sentences
from longmatch.ragged import segment_sum

Floats = npt.NDArray[np.float64]
MAX_WORDS = 20_000
E = TypeVar("E")  # an encoded document
T = TypeVar("T")  # fitted topics
COUNTS = (5, 10, 20, 50, 100)  # numbers of topics to choose from by coherence
SELECTION_TEXTS, MAX_TEXTS = 1_000, 5_000  # for choosing the number of topics, and for fitting
SEED = 0


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


@dataclass(frozen=True)
class Lda:
    """Fitted topics: the probability of each word in each topic (topics, words)."""

    vocabulary: Vocabulary
    words: Floats
    fitted: Any  # scikit-learn's model

    @staticmethod
    def fit(texts: Sequence[Counts], counts: Sequence[int] = COUNTS) -> "Lda | None":
        """Choose the number of topics by coherence and fit them; None if the vocabulary is empty.

        The order of the texts does not matter; beyond MAX_TEXTS, those with the lowest digests are used.
        """
        sample = sorted(texts, key=digest)[:MAX_TEXTS]
        vocabulary = Vocabulary.of(sample)
        if not len(vocabulary):
            return None
        matrix = vocabulary.matrix(sample)
        options = [count for count in counts if count <= len(sample) / 2] or [min(2, len(sample))]
        few = matrix[:SELECTION_TEXTS]
        best = options[0]
        if len(options) > 1:
            best = max(options, key=lambda k: (coherence(_fit(few, k).components_, few), -k))
        fitted = _fit(matrix, best)
        return Lda(vocabulary, proportions(fitted.components_), fitted)

    def proportions_of(self, texts: Sequence[Counts]) -> Floats:
        """The topic proportions of each text (texts, topics); zeros for a text without known words."""
        matrix = self.vocabulary.matrix(texts)
        return np.asarray(self.fitted.transform(matrix) * (matrix.sum(1) > 0)[:, None])

    def topic_weights(self, sentences: Sequence[Counts], document: Floats) -> Floats:
        """The topic weights of a document's sentences: (sentences, topics).

        Each word is divided among the topics by its probability in them times the document's proportion of them.
        """
        topic_probabilities = proportions((self.words * document[:, None]).T)  # (words, topics)
        return np.asarray(self.vocabulary.matrix(sentences) @ topic_probabilities)


def _fit(matrix: sp.csr_array, count: int) -> Any:
    """Fit scikit-learn's model."""
    from sklearn.decomposition import LatentDirichletAllocation

    batch_size = int(np.clip(matrix.shape[0] // 10, 1, 128))  # many steps even for small collections
    model = LatentDirichletAllocation(count, learning_method="online", batch_size=batch_size, random_state=SEED)
    return model.fit(matrix)


def coherence(topics: Floats, texts: sp.csr_array, words: int = 10) -> float:
    """The mean NPMI of every two of a topic's heaviest words, averaged over topics.

    G. Bouma: "Normalized (Pointwise) Mutual Information in Collocation Extraction", GSCL 2009. With p the share of
    texts that contain a word or both,

        NPMI(v, w) = ln(p(v, w) / (p(v) p(w))) / -ln p(v, w)

    which is 1 for words that only occur together, 0 for independent ones (and for two that are in every text), -1 for
    words that never co-occur. `topics` is (topics, words), `texts` (texts, words).
    """
    present = sp.csc_array(texts > 0).astype(np.float64)
    means = []
    for topic in topics:
        mine = present[:, np.argsort(-topic, kind="stable")[:words]]
        together: Floats = (mine.T @ mine).toarray() / mine.shape[0]
        single = np.diag(together)
        first, second = np.triu_indices(len(single), 1)
        both, apart = together[first, second], single[first] * single[second]
        npmi = np.where(both == 1, 0.0, -1.0)
        some = (both > 0) & (both < 1)
        npmi[some] = np.log(both[some] / apart[some]) / -np.log(both[some])
        means.append(npmi.mean() if len(npmi) else 0.0)
    return float(np.mean(means))


class LdaMatcher(TopicMatcher[LexicalEncoding, Lda]):
    """LDA's topics, fitted on the collection being searched."""

    name = "lda"
    kind: Kind = "words"

    def __init__(self, counts: Sequence[int] = COUNTS) -> None:
        self.counts = tuple(counts)

    def encode(self, documents: Sequence[Document], progress: Progress | None = None) -> list[LexicalEncoding]:
        """Count the words of each document."""
        encodings = []
        for document in documents:
            encodings.append(LexicalEncoding(Sentences.of_document(document), terms_of(document, with_form=True).words))
            if progress:
                progress(1)
        return encodings

    def fit(self, encodings: Sequence[LexicalEncoding]) -> Lda | None:
        """Each document is a text."""
        return Lda.fit([e.stream.counts for e in encodings], self.counts)

    def fit_pair(self, a: LexicalEncoding, b: LexicalEncoding) -> Lda | None:
        """Each paragraph is a text."""
        return Lda.fit([text for e in (a, b) for text in paragraph_counts(e.stream, e.sentences)], self.counts)

    def proportions_of(self, encodings: Sequence[LexicalEncoding], topics: Lda | None) -> Floats:
        """By their words; zeros without topics."""
        return topics.proportions_of([e.stream.counts for e in encodings]) if topics else np.zeros((len(encodings), 1))

    def profile(self, encoding: LexicalEncoding, topics: Lda | None) -> TopicProfile:
        """The topics of a document and of its sentences."""
        sentences, document = encoding.stream.sentence_counts(), self.proportions_of([encoding], topics)[0]
        weights = topics.topic_weights(sentences, document) if topics else np.zeros((len(sentences), 1))
        return TopicProfile(encoding.sentences, weights, document)
