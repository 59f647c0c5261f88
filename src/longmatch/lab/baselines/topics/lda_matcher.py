"""LDA as a matcher: topics are fitted on the collection being searched."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from longmatch.documents.document import Document
from longmatch.documents.language import words_of
from longmatch.lab.baselines.topics.explanation import TopicProfile, explain
from longmatch.lab.baselines.topics.lda import COUNTS, Lda
from longmatch.lab.baselines.topics.similarity import Floats, topic_similarity
from longmatch.lexical.matcher import LexicalEncoding
from longmatch.lexical.terms import Counts, Kind, terms_of
from longmatch.matching.match import Match
from longmatch.matching.matcher import Encoder, Progress, Scores
from longmatch.matching.sentences import Sentences


@dataclass(frozen=True)
class LdaCollection:
    """The topics of a collection (None if its vocabulary is empty), and the documents' topic proportions."""

    lda: Lda | None
    proportions: Floats  # (documents, topics)


class LdaMatcher(Encoder[LexicalEncoding, LdaCollection]):
    """Similarity of topic proportions: 1 minus their Jensen-Shannon divergence."""

    name = "lda"
    kind: Kind = "words"

    def __init__(self, counts: Sequence[int] = COUNTS) -> None:
        self.counts = tuple(counts)

    def encode(self, documents: Sequence[Document], progress: Progress | None = None) -> list[LexicalEncoding]:
        """Count the words of each document."""
        encodings = []
        for document in documents:
            encodings.append(LexicalEncoding(Sentences.of_document(document), terms_of(document, split=words_of).words))
            if progress:
                progress(1)
        return encodings

    def collect(self, encodings: Sequence[LexicalEncoding]) -> LdaCollection:
        """Fit the collection's topics, and compute each document's proportions."""
        counts = [e.stream.counts for e in encodings]
        lda = Lda.fit(counts, self.counts)
        return LdaCollection(lda, lda.proportions_of(counts) if lda else np.zeros((len(counts), 1)))

    def score(self, query: LexicalEncoding, collection: LdaCollection) -> Scores:
        """The topic similarity of a query with every document."""
        if collection.lda is None:
            return np.zeros(len(collection.proportions))
        query_row = collection.lda.proportions_of([query.stream.counts])
        return np.asarray(topic_similarity(query_row, collection.proportions)[0])

    def explain(self, a: LexicalEncoding, b: LexicalEncoding, collection: LdaCollection | None = None) -> Match:
        """By the collection's topics; for a single pair, by those of both documents' paragraphs."""
        lda = collection.lda if collection else Lda.fit([*_paragraphs(a), *_paragraphs(b)], self.counts)
        return explain(_profile(a, lda), _profile(b, lda), self.name)


def _profile(encoding: LexicalEncoding, lda: Lda | None) -> TopicProfile:
    sentences = encoding.stream.sentence_counts()
    if lda is None:
        return TopicProfile(encoding.sentences, np.zeros((len(sentences), 1)), np.zeros(1))
    document = lda.proportions_of([encoding.stream.counts])[0]
    return TopicProfile(encoding.sentences, lda.topic_weights(sentences, document), document)


def _paragraphs(encoding: LexicalEncoding) -> list[Counts]:
    stream = encoding.stream
    bounds = stream.offsets[encoding.sentences.paragraphs].tolist()
    return [Counts.of(stream.ids[start:end]) for start, end in pairwise(bounds)]
