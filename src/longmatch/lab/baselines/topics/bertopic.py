"""BERTopic's steps as a matcher: the paragraphs of the collection that is asked are clustered into its topics."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from longmatch.documents.document import Document
from longmatch.encoders.backbone import Backbone
from longmatch.lab.baselines.topics.clusters import ClusterTopics
from longmatch.lab.baselines.topics.explanation import Side, explain
from longmatch.lab.baselines.topics.similarity import Floats, shares, topic_similarity
from longmatch.lab.baselines.topics.vocabulary import digest
from longmatch.lexical.terms import Counts, Stream, terms_of
from longmatch.matching.match import Match
from longmatch.matching.matcher import Encoder, Progress, Scores
from longmatch.matching.sentence_vectors import sentence_vectors
from longmatch.matching.sentences import Sentences
from longmatch.sdr.paragraphs import whole_paragraphs

LEARNING = 5_000  # paragraphs that are clustered


@dataclass(frozen=True)
class TopicEncoding:
    """A document's sentences, their words, and a vector for each paragraph."""

    sentences: Sentences
    stream: Stream
    paragraphs: Tensor  # (paragraphs, width)

    def words_of_paragraphs(self) -> list[Counts]:
        """The words of each paragraph."""
        bounds = self.stream.offsets[self.sentences.paragraphs.numpy()].tolist()
        return [Counts.of(self.stream.ids[start:end]) for start, end in pairwise(bounds)]


@dataclass(frozen=True)
class TopicCollection:
    """The topics of a collection (None where its paragraphs form no clusters), and the documents' shares of them."""

    topics: ClusterTopics | None
    shares: Floats  # (documents, topics)


class BertopicMatcher(Encoder[TopicEncoding, TopicCollection]):
    """Documents are alike as far as they have the same topics: 1 less the Jensen-Shannon divergence of their shares."""

    name = "bertopic"

    def __init__(self, backbone: Backbone | None = None) -> None:
        self.backbone = backbone or Backbone.load()

    def encode(self, documents: Sequence[Document], progress: Progress | None = None) -> list[TopicEncoding]:
        """Count the words of each document, and encode its paragraphs."""
        return [_encoding(*found) for found in sentence_vectors(documents, self.backbone, progress)]

    def collect(self, encodings: Sequence[TopicEncoding]) -> TopicCollection:
        """Cluster the collection's paragraphs; of many, those with the lowest digests."""
        topics = _fit(encodings)
        found = [_side(encoding, topics).shares for encoding in encodings]
        return TopicCollection(topics, np.stack(found) if found else np.zeros((0, 1)))

    def score(self, query: TopicEncoding, collection: TopicCollection) -> Scores:
        """The similarity of a query's topics with those of every document."""
        asked = _side(query, collection.topics).shares
        return np.asarray(topic_similarity(asked[None], collection.shares)[0])

    def explain(self, a: TopicEncoding, b: TopicEncoding, collection: TopicCollection | None = None) -> Match:
        """By the collection's topics; a lone pair has those of the paragraphs of both."""
        topics = collection.topics if collection else _fit([a, b])
        return explain(_side(a, topics), _side(b, topics), self.name)


def _encoding(sentences: Sentences, vectors: Tensor) -> TopicEncoding:
    spans = zip(sentences.starts.tolist(), sentences.ends.tolist(), strict=True)
    words = terms_of(sentences.document, spans).words
    return TopicEncoding(sentences, words, whole_paragraphs(sentences, vectors)[1])


def _fit(encodings: Sequence[TopicEncoding]) -> ClusterTopics | None:
    texts = [words for encoding in encodings for words in encoding.words_of_paragraphs()]
    if not texts:
        return None
    vectors = torch.cat([encoding.paragraphs for encoding in encodings]).double().numpy()
    some = sorted(range(len(texts)), key=lambda n: digest(texts[n]))[:LEARNING]
    return ClusterTopics.fit([texts[n] for n in some], vectors[some])


def _side(encoding: TopicEncoding, topics: ClusterTopics | None) -> Side:
    counts = encoding.stream.sentence_counts()
    spoken = topics.spoken(counts) if topics else np.zeros((len(counts), 1))
    return Side(encoding.sentences, spoken, shares(spoken.sum(0, keepdims=True))[0])
