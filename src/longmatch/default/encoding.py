"""One document as the default matcher sees it: sentence vectors and hashed terms."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from longmatch.documents.document import Document, Span
from longmatch.encoders.backbone import Backbone, TokenProgress
from longmatch.lexical.mentions import title_terms
from longmatch.lexical.terms import Counts, Hashes, Terms, terms_of, words_in
from longmatch.matching.levels import Background, SentenceVectors
from longmatch.matching.matcher import Progress
from longmatch.matching.sentence_vectors import title_vectors, vectors_of_tokens
from longmatch.matching.sentences import Sentences
from longmatch.ragged import Array, unit_rows
from longmatch.units import Tokens


@dataclass(frozen=True)
class Encoding:
    """A document's sentences (long ones cut to what the backbone reads) with their vectors and terms."""

    sentences: Sentences
    sentence_vectors: SentenceVectors
    terms: Terms
    title_vector: Array | None = None  # zeros for no title; None where it was not kept

    @property
    def document(self) -> Document:
        """The document encoded."""
        return self.sentences.document

    @property
    def words(self) -> int:
        """The number of words read."""
        return len(self.terms.words.ids)

    @cached_property
    def title_words(self) -> Counts:
        """The words of the title."""
        return words_in(self.document.title)

    @cached_property
    def title_terms(self) -> Hashes:
        """The terms of a text that mentions the document by its title."""
        return title_terms(self.document.title)

    @cached_property
    def all_terms(self) -> Hashes:
        """All terms of the text and of the title, sorted."""
        return np.unique(np.concatenate([self.terms.words.counts.ids, self.terms.phrases.counts.ids, self.title_terms]))

    @cached_property
    def mean(self) -> Array:
        """The document's vector: the mean of its sentences', of length 1; zeros where none has a vector."""
        return unit_rows(self.sentence_vectors.vectors.sum(0))

    def __len__(self) -> int:
        return len(self.sentences.starts)

    def outside(self, spans: Iterable[Span]) -> "Encoding":
        """The document without the sentences that overlap some spans of its text."""
        kept = np.ones(len(self), dtype=bool)
        for span in spans:
            kept &= (self.sentences.ends <= span.start) | (self.sentences.starts >= span.end)
        rows = np.flatnonzero(kept)
        vectors = SentenceVectors(self.sentence_vectors.vectors[rows], self.sentence_vectors.expectations[rows])
        return Encoding(self.sentences.part(rows), vectors, self.terms.part(rows), self.title_vector)


def encode_tokens(
    documents: Iterable[Tokens],
    backbone: Backbone,
    background: Background,
    progress: Progress | None = None,
    on_tokens: TokenProgress | None = None,
) -> list[Encoding]:
    """Encode documents that are tokenised, each alone."""
    read = list(vectors_of_tokens(documents, backbone, progress, on_tokens))
    titles = title_vectors([sentences.document.title for sentences, _ in read], backbone)
    encodings = []
    for (sentences, vectors), title in zip(read, titles, strict=True):
        spans = zip(sentences.starts.tolist(), sentences.ends.tolist(), strict=True)
        terms = terms_of(sentences.document, spans)
        expected = SentenceVectors(vectors, background.expectations(vectors))
        encodings.append(Encoding(sentences, expected, terms, title))
    return encodings
