"""One document as the default matcher sees it: sentences, hashed terms and vectors."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from longmatch.default.meaning import SummedVectors, Vectors
from longmatch.documents.document import Document, Span
from longmatch.encoders.token_vectors import WordTokens
from longmatch.lexical.mentions import title_terms
from longmatch.lexical.terms import Counts, Hashes, Terms, words_in
from longmatch.matching.levels import SentenceVectors
from longmatch.matching.sentences import Sentences
from longmatch.ragged import Array


@dataclass(frozen=True)
class Encoding:
    """A document's sentences (long ones cut to what a transformer reads) with their terms, and its vectors."""

    sentences: Sentences
    terms: Terms
    vectors: Vectors
    title_vector: Array | None = None  # zeros for no title; None where it was not kept
    known_vector: Array | None = None  # the document's own, where it is stored

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

    @property
    def tokens(self) -> WordTokens | None:
        """The tokens of the distinct words, where vectors are summed from them."""
        return self.vectors.tokens if isinstance(self.vectors, SummedVectors) else None

    @property
    def sentence_vectors(self) -> SentenceVectors:
        """The vectors of the sentences."""
        return self.vectors.sentences

    @cached_property
    def vector(self) -> Array:
        """The document's vector, of length 1; zeros where no sentence has a word."""
        return self.vectors.document if self.known_vector is None else self.known_vector

    def __len__(self) -> int:
        return len(self.sentences.starts)

    def outside(self, spans: Iterable[Span]) -> "Encoding":
        """The document without the sentences that overlap some spans of its text."""
        kept = np.ones(len(self), dtype=bool)
        for span in spans:
            kept &= (self.sentences.ends <= span.start) | (self.sentences.starts >= span.end)
        rows = np.flatnonzero(kept)
        return Encoding(self.sentences.part(rows), self.terms.part(rows), self.vectors.part(rows))
