"""LDA as a matcher: its topics are those of the collection that is asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from longmatch.documents.document import Document
from longmatch.lab.baselines.topics.explanation import Side, explain
from longmatch.lab.baselines.topics.lda import COUNTS, Lda
from longmatch.lab.baselines.topics.similarity import Floats, topic_similarity
from longmatch.lexical.matcher import LexicalEncoding
from longmatch.lexical.terms import Counts, Kind, terms_of
from longmatch.matching.match import Match
from longmatch.matching.matcher import Encoder, Progress, Scores
from longmatch.matching.sentences import Sentences


@dataclass(frozen=True)
class LdaCollection:
    """The topics of a collection (None where no word tells its documents apart) and the documents' shares of them."""

    lda: Lda | None
    shares: Floats  # (documents, topics)


class LdaMatcher(Encoder[LexicalEncoding, LdaCollection]):
    """Documents are alike as far as they have the same topics: 1 less the Jensen-Shannon divergence of their shares."""

    name = "lda"
    kind: Kind = "words"

    def __init__(self, counts: Sequence[int] = COUNTS) -> None:
        self.counts = tuple(counts)

    def encode(self, documents: Sequence[Document], progress: Progress | None = None) -> list[LexicalEncoding]:
        """Count the words of each document."""
        encodings = []
        for document in documents:
            encodings.append(LexicalEncoding(Sentences.of_document(document), terms_of(document).words))
            if progress:
                progress(1)
        return encodings

    def collect(self, encodings: Sequence[LexicalEncoding]) -> LdaCollection:
        """Learn the collection's topics, and each document's shares of them."""
        counts = [e.stream.counts for e in encodings]
        lda = Lda.fit(counts, self.counts)
        return LdaCollection(lda, lda.shares_of(counts) if lda else np.zeros((len(counts), 1)))

    def score(self, query: LexicalEncoding, collection: LdaCollection) -> Scores:
        """The similarity of a query's topics with those of every document."""
        if collection.lda is None:
            return np.zeros(len(collection.shares))
        asked = collection.lda.shares_of([query.stream.counts])
        return np.asarray(topic_similarity(asked, collection.shares)[0])

    def explain(self, a: LexicalEncoding, b: LexicalEncoding, collection: LdaCollection | None = None) -> Match:
        """By the collection's topics; a lone pair has those of the paragraphs of both."""
        lda = collection.lda if collection else Lda.fit([*_paragraphs(a), *_paragraphs(b)], self.counts)
        return explain(_side(a, lda), _side(b, lda), self.name)


def _side(encoding: LexicalEncoding, lda: Lda | None) -> Side:
    sentences = encoding.stream.sentence_counts()
    if lda is None:
        return Side(encoding.sentences, np.zeros((len(sentences), 1)), np.zeros(1))
    own = lda.shares_of([encoding.stream.counts])[0]
    return Side(encoding.sentences, lda.spoken(sentences, own), own)


def _paragraphs(encoding: LexicalEncoding) -> list[Counts]:
    stream = encoding.stream
    bounds = stream.offsets[encoding.sentences.paragraphs.numpy()].tolist()
    return [Counts.of(stream.ids[start:end]) for start, end in pairwise(bounds)]
