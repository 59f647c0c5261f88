"""BERTopic as a matcher: topics are clusters of the collection's paragraphs."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from longmatch.documents.document import Document
from longmatch.documents.language import words_of
from longmatch.encoders.backbone import Backbone, Vectors
from longmatch.lab.baselines.topics.clusters import ClusterTopics
from longmatch.lab.baselines.topics.explanation import TopicProfile, explain
from longmatch.lab.baselines.topics.similarity import Floats, proportions, topic_similarity
from longmatch.lab.baselines.topics.vocabulary import digest
from longmatch.lexical.terms import Counts, Stream, terms_of
from longmatch.matching.match import Match
from longmatch.matching.matcher import Encoder, Progress, Scores
from longmatch.matching.sentence_vectors import sentence_vectors
from longmatch.matching.sentences import Sentences
from longmatch.models.sdr.paragraphs import whole_paragraphs

MAX_PARAGRAPHS = 5_000  # clustered


@dataclass(frozen=True)
class TopicEncoding:
    """A document's sentences, their words, and one vector per paragraph."""

    sentences: Sentences
    stream: Stream
    paragraphs: Vectors  # (paragraphs, width)

    def words_of_paragraphs(self) -> list[Counts]:
        """The word counts of each paragraph."""
        bounds = self.stream.offsets[self.sentences.paragraphs].tolist()
        return [Counts.of(self.stream.ids[start:end]) for start, end in pairwise(bounds)]


@dataclass(frozen=True)
class TopicCollection:
    """The topics of a collection (None if its paragraphs form no clusters), and the documents' topic proportions."""

    topics: ClusterTopics | None
    proportions: Floats  # (documents, topics)


class BertopicMatcher(Encoder[TopicEncoding, TopicCollection]):
    """Similarity of topic proportions: 1 minus their Jensen-Shannon divergence."""

    name = "bertopic"

    def __init__(self, backbone: Backbone | None = None) -> None:
        self.backbone = backbone or Backbone.load()

    def encode(self, documents: Sequence[Document], progress: Progress | None = None) -> list[TopicEncoding]:
        """Count the words of each document, and encode its paragraphs."""
        return [_encoding(*encoded) for encoded in sentence_vectors(documents, self.backbone, progress)]

    def collect(self, encodings: Sequence[TopicEncoding]) -> TopicCollection:
        """Cluster the collection's paragraphs; beyond MAX_PARAGRAPHS, those with the lowest digests."""
        topics = _fit(encodings)
        rows = [_profile(encoding, topics).proportions for encoding in encodings]
        return TopicCollection(topics, np.stack(rows) if rows else np.zeros((0, 1)))

    def score(self, query: TopicEncoding, collection: TopicCollection) -> Scores:
        """The topic similarity of a query with every document."""
        query_row = _profile(query, collection.topics).proportions[None]
        return np.asarray(topic_similarity(query_row, collection.proportions)[0])

    def explain(self, a: TopicEncoding, b: TopicEncoding, collection: TopicCollection | None = None) -> Match:
        """By the collection's topics; for a single pair, by those of both documents' paragraphs."""
        topics = collection.topics if collection else _fit([a, b])
        return explain(_profile(a, topics), _profile(b, topics), self.name)


def _encoding(sentences: Sentences, vectors: Vectors) -> TopicEncoding:
    spans = zip(sentences.starts.tolist(), sentences.ends.tolist(), strict=True)
    words = terms_of(sentences.document, spans, words_of).words
    return TopicEncoding(sentences, words, whole_paragraphs(sentences, vectors)[1])


def _fit(encodings: Sequence[TopicEncoding]) -> ClusterTopics | None:
    texts = [words for encoding in encodings for words in encoding.words_of_paragraphs()]
    if not texts:
        return None
    vectors = np.concatenate([encoding.paragraphs for encoding in encodings]).astype(np.float64)
    sample = sorted(range(len(texts)), key=lambda n: digest(texts[n]))[:MAX_PARAGRAPHS]
    return ClusterTopics.fit([texts[n] for n in sample], vectors[sample])


def _profile(encoding: TopicEncoding, topics: ClusterTopics | None) -> TopicProfile:
    counts = encoding.stream.sentence_counts()
    weights = topics.topic_weights(counts) if topics else np.zeros((len(counts), 1))
    return TopicProfile(encoding.sentences, weights, proportions(weights.sum(0, keepdims=True))[0])
