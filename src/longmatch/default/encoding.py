"""One document as the default matcher sees it: sentence vectors and hashed terms."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from longmatch.default.meaning import VectorSource
from longmatch.documents.document import Document, Span
from longmatch.encoders.token_vectors import WordTokens
from longmatch.lexical.mentions import title_terms
from longmatch.lexical.terms import Counts, Hashes, Terms, words_in
from longmatch.matching.levels import SentenceVectors
from longmatch.matching.sentences import Sentences
from longmatch.ragged import Array, unit_rows


@dataclass(frozen=True)
class Encoding:
    """A document's sentences (long ones cut to what a transformer reads) with their vectors and terms."""

    sentences: Sentences
    vectors: VectorSource  # of the sentences, or what makes them
    terms: Terms
    title_vector: Array | None = None  # zeros for no title; None where it was not kept
    vector: Array | None = None  # the document's own, where it is known already
    tokens: WordTokens | None = None  # of the distinct words, where vectors are made from them

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
    def sentence_vectors(self) -> SentenceVectors:
        """The vectors of the sentences."""
        return self.vectors if isinstance(self.vectors, SentenceVectors) else self.vectors()

    @cached_property
    def mean(self) -> Array:
        """The document's vector: the mean of its sentences', of length 1; zeros where none has a vector."""
        return unit_rows(self.sentence_vectors.vectors.sum(0)) if self.vector is None else self.vector

    def __len__(self) -> int:
        return len(self.sentences.starts)

    def outside(self, spans: Iterable[Span]) -> "Encoding":
        """The document without the sentences that overlap some spans of its text."""
        kept = np.ones(len(self), dtype=bool)
        for span in spans:
            kept &= (self.sentences.ends <= span.start) | (self.sentences.starts >= span.end)
        rows = np.flatnonzero(kept)
        vectors = SentenceVectors(self.sentence_vectors.vectors[rows], self.sentence_vectors.expectations[rows])
        sentences, terms = self.sentences.part(rows), self.terms.part(rows)
        return replace(self, sentences=sentences, vectors=vectors, terms=terms, vector=None, tokens=None)
