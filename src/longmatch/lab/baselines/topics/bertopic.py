"""BERTopic: texts are clustered by their vectors, and a cluster's topic is its distinctive words.

M. Grootendorst: "BERTopic: Neural topic modeling with a class-based TF-IDF procedure", arXiv 2203.05794, 2022.

The steps are BERTopic's, implemented with scipy and scikit-learn: vectors of a language model; fewer dimensions, here
by a diffusion map of the neighbourhood graph instead of UMAP, which is initialised with nearly the same; HDBSCAN, which
leaves outliers without a topic; and the class-based TF-IDF of each cluster's words. The BERTopic library itself depends
on UMAP and thereby on a compiler (numba, llvmlite).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from longmatch.documents.document import Document
from longmatch.encoders.backbone import Backbone, Vectors
from longmatch.lab.baselines.topics.proportions import (
    Floats,
    TopicMatcher,
    TopicProfile,
    Vocabulary,
    digest,
    paragraph_counts,
    proportions,
)
from longmatch.lexical.terms import Counts, Stream, terms_of
from longmatch.matching.matcher import Progress
from longmatch.matching.sentence_vectors import sentence_vectors
from longmatch.matching.sentences import Sentences
from longmatch.models.sdr.score import whole_paragraphs
from longmatch.units.tokens import Ints

DIMENSIONS, NEIGHBOURS, STEPS = 10, 15, 2  # of the diffusion map
MIN_CLUSTER = 10  # texts per topic; fewer for fewer than 100 texts
MIN_SIMILARITY = 0.1  # of a sentence and a topic; lower ones count as 0
MAX_PARAGRAPHS = 5_000  # clustered


@dataclass(frozen=True)
class ClusterTopics:
    """Topics as unit vectors over words (topics, words), and the weight of each word."""

    vocabulary: Vocabulary
    words: Floats
    weights: Floats  # (words,)

    @staticmethod
    def fit(texts: Sequence[Counts], vectors: Floats) -> "ClusterTopics | None":
        """Fit topics to texts with vectors (texts, width); None if they form no clusters."""
        labels = cluster(vectors)
        vocabulary = Vocabulary.of(texts)
        if labels.max(initial=-1) < 0 or not len(vocabulary):
            return None
        inside = np.flatnonzero(labels >= 0)
        member = sp.csr_array((np.ones(len(inside)), (labels[inside], inside)), shape=(labels.max() + 1, len(texts)))
        words, weights = class_tfidf(np.asarray((member @ vocabulary.matrix(texts)).toarray()))
        lengths = np.linalg.norm(words, axis=1, keepdims=True)
        return ClusterTopics(vocabulary, np.asarray(words / np.maximum(lengths, 1e-12)), weights)

    def topic_weights(self, sentences: Sequence[Counts]) -> Floats:
        """The cosine of each sentence's words with each topic, 0 if low: (sentences, topics).

        BERTopic's approximate distribution with sentences as windows; a document's topic proportions are the sum.
        """
        weighted = self.vocabulary.matrix(sentences) @ sp.diags_array(self.weights)
        lengths = np.sqrt(np.asarray(weighted.power(2).sum(1)))
        cosines = np.asarray(weighted @ self.words.T) / np.maximum(lengths, 1e-12)[:, None]
        return np.asarray(np.where(cosines >= MIN_SIMILARITY, cosines, 0.0))


def cluster(vectors: Floats) -> Ints:
    """The cluster of each text, -1 for outliers: (texts,)."""
    from sklearn.cluster import HDBSCAN

    if len(vectors) < 2 * DIMENSIONS:
        return np.full(len(vectors), -1, dtype=np.int64)
    smallest = min(MIN_CLUSTER, len(vectors) // 10)
    return np.asarray(HDBSCAN(min_cluster_size=smallest, copy=True).fit_predict(diffuse(vectors)), dtype=np.int64)


def diffuse(vectors: Floats) -> Floats:
    """Diffusion map: coordinates of texts from random walks on their neighbourhood graph: (texts, DIMENSIONS + 1).

    R. R. Coifman, S. Lafon: "Diffusion maps", Applied and Computational Harmonic Analysis 21(1), 2006.
    """
    from scipy.sparse.linalg import eigsh
    from sklearn.neighbors import kneighbors_graph

    near = sp.csr_array(kneighbors_graph(vectors, min(NEIGHBOURS, len(vectors) - 1), include_self=True))
    graph = (near + near.T) / 2
    root = np.sqrt(graph.sum(1))
    walk = sp.diags_array(1 / root) @ graph @ sp.diags_array(1 / root)
    values, directions = eigsh(walk, k=DIMENSIONS + 1, which="LA", v0=np.ones(len(vectors)))
    return np.asarray(directions / root[:, None] * values**STEPS)


def class_tfidf(counts: Floats) -> tuple[Floats, Floats]:
    """Class-based TF-IDF of words in clusters (clusters, words), and the idf factor of each word (words,).

    A word's share of its cluster's words, times ln(1 + A / f), where f is its count in all clusters and A the mean
    number of words per cluster.
    """
    total = counts.sum(0)
    weights = np.log1p(np.divide(counts.sum() / len(counts), total, out=np.zeros_like(total), where=total > 0))
    return proportions(counts) * weights, weights


@dataclass(frozen=True)
class TopicEncoding:
    """A document's sentences, their words, and one vector per paragraph."""

    sentences: Sentences
    stream: Stream
    paragraphs: Vectors  # (paragraphs, width)


class BertopicMatcher(TopicMatcher[TopicEncoding, ClusterTopics]):
    """Topics are clusters of the collection's paragraphs; beyond MAX_PARAGRAPHS, of those with the lowest digests."""

    name = "bertopic"

    def __init__(self, backbone: Backbone | None = None) -> None:
        self.backbone = backbone or Backbone.load()

    def encode(self, documents: Sequence[Document], progress: Progress | None = None) -> list[TopicEncoding]:
        """Count the words of each document, and encode its paragraphs."""
        encodings = []
        for sentences, vectors in sentence_vectors(documents, self.backbone, progress):
            spans = zip(sentences.starts.tolist(), sentences.ends.tolist(), strict=True)
            words = terms_of(sentences.document, spans, with_form=True).words
            encodings.append(TopicEncoding(sentences, words, whole_paragraphs(sentences, vectors)[1]))
        return encodings

    def fit(self, encodings: Sequence[TopicEncoding]) -> ClusterTopics | None:
        """The clusters of all documents' paragraphs."""
        texts = [words for e in encodings for words in paragraph_counts(e.stream, e.sentences)]
        if not texts:
            return None
        vectors = np.concatenate([encoding.paragraphs for encoding in encodings]).astype(np.float64)
        sample = sorted(range(len(texts)), key=lambda n: digest(texts[n]))[:MAX_PARAGRAPHS]
        return ClusterTopics.fit([texts[n] for n in sample], vectors[sample])

    def profile(self, encoding: TopicEncoding, topics: ClusterTopics | None) -> TopicProfile:
        """The topics of a document and of its sentences."""
        counts = encoding.stream.sentence_counts()
        weights = topics.topic_weights(counts) if topics else np.zeros((len(counts), 1))
        return TopicProfile(encoding.sentences, weights, proportions(weights.sum(0, keepdims=True))[0])
