"""How documents and their sentences get vectors: from token vectors, when they are asked for; or from a transformer."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Generic, Protocol, TypeAlias, TypeVar

import numpy as np

from longmatch.documents.document import Document
from longmatch.encoders.backbone import Backbone, TokenProgress
from longmatch.encoders.pretrained import TOKEN_VECTORS
from longmatch.encoders.token_vectors import TABLE, TokenVectors, WordTokens
from longmatch.lexical.form import words_of_each
from longmatch.lexical.terms import Stream, Terms, spelled_terms_of, terms_of
from longmatch.matching.levels import Background, SentenceVectors
from longmatch.matching.matcher import Progress
from longmatch.matching.sentence_vectors import sentence_vectors, title_vectors, vectors_of_tokens
from longmatch.matching.sentences import Sentences
from longmatch.ragged import Array, Ints, offsets_of, ranges, unit_rows
from longmatch.units import Tokens, sentences, tokenize

AnyBackbone: TypeAlias = TokenVectors | Backbone
T = TypeVar("T", WordTokens, Tokens)


class Vectors(Protocol):
    """The vectors of a document and of its sentences."""

    @property
    def document(self) -> Array:
        """The document's own, of length 1; zeros where no sentence has a word."""

    @property
    def rows(self) -> Array:
        """Those of the sentences: (sentences, width)."""

    @property
    def sentences(self) -> SentenceVectors:
        """The same, with what to expect of them by chance."""

    def part(self, rows: Ints) -> "Vectors":
        """Those of some of the sentences, taken as a document."""


@dataclass(frozen=True)
class KnownVectors:
    """Vectors of sentences that a transformer made."""

    sentences: SentenceVectors

    @property
    def rows(self) -> Array:
        """Those of the sentences."""
        return self.sentences.vectors

    @property
    def document(self) -> Array:
        """The mean of the sentences', of length 1."""
        return unit_rows(self.sentences.vectors.sum(0))

    def part(self, rows: Ints) -> "KnownVectors":
        """Those of some sentences."""
        return KnownVectors(SentenceVectors(self.sentences.vectors[rows], self.sentences.expectations[rows]))


@dataclass(frozen=True)
class SummedVectors:
    """What vectors are summed from: sentence s has the words stream[offsets[s]:offsets[s + 1]], by number."""

    open_meaning: Callable[[], "TableMeaning"]
    stream: Ints
    offsets: Ints
    tokens: WordTokens  # of the distinct words

    @property
    def document(self) -> Array:
        """The mean of the sentences', of length 1."""
        return unit_rows(self.rows.sum(0))

    @cached_property
    def sentences(self) -> SentenceVectors:
        """With what to expect by chance."""
        return SentenceVectors(self.rows, self.open_meaning().background.expectations(self.rows))

    @cached_property
    def rows(self) -> Array:
        """Summed when they are first asked for."""
        return summed_sentences(self.open_meaning().table, self.tokens, self.stream, self.offsets)

    def part(self, rows: Ints) -> "SummedVectors":
        """Of some sentences."""
        first, last = self.offsets[:-1][rows], self.offsets[1:][rows]
        return SummedVectors(self.open_meaning, self.stream[ranges(first, last)], offsets_of(last - first), self.tokens)


@dataclass(frozen=True)
class Tokenised(Generic[T]):
    """A document's sentences and terms, and the tokens from which vectors are made."""

    sentences: Sentences
    terms: Terms
    tokens: T

    def __len__(self) -> int:
        return int(self.sentences.lengths.sum())


class Meaning(Protocol[T]):
    """Makes the vectors of documents and their sentences, in two steps."""

    def tokenize(self, document: Document) -> Tokenised[T]:
        """Step one: sentences, terms and tokens."""

    def encode(
        self, documents: Iterable[Tokenised[T]], progress: Progress | None, on_tokens: TokenProgress | None
    ) -> Iterator[tuple[Tokenised[T], Vectors]]:
        """Step two: each document with its vectors."""


@dataclass(frozen=True)
class TableMeaning:
    """By token vectors, which cost so little that sentences are summed when they are needed, and need not be kept."""

    table: TokenVectors
    background: Background

    def opened(self) -> "TableMeaning":
        """This: stored documents open theirs when it is needed."""
        return self

    def tokenize(self, document: Document) -> Tokenised[WordTokens]:
        """The sentences as they stand, and the tokens of the distinct words."""
        return tokenize_words(document, self.table)

    def encode(
        self, documents: Iterable[Tokenised[WordTokens]], progress: Progress | None, on_tokens: TokenProgress | None
    ) -> Iterator[tuple[Tokenised[WordTokens], SummedVectors]]:
        """One after another."""
        for document in documents:
            words = document.terms.words
            yield document, SummedVectors(self.opened, numbered(words), words.offsets, document.tokens)
            if on_tokens:
                on_tokens(len(document))
            if progress:
                progress(1)


@dataclass(frozen=True)
class TransformerMeaning:
    """By a transformer, of many documents together."""

    backbone: Backbone
    background: Background

    def tokenize(self, document: Document) -> Tokenised[Tokens]:
        """The sentences, long ones cut to what the backbone reads, and their terms."""
        tokens = tokenize(document, self.backbone.tokenizer)
        found = Sentences.of(sentences(tokens, self.backbone.max_tokens))
        spans = zip(found.starts.tolist(), found.ends.tolist(), strict=True)
        return Tokenised(found, terms_of(document, spans), tokens)

    def encode(
        self, documents: Iterable[Tokenised[Tokens]], progress: Progress | None, on_tokens: TokenProgress | None
    ) -> Iterator[tuple[Tokenised[Tokens], KnownVectors]]:
        """All at once."""
        read = list(documents)
        found = vectors_of_tokens([document.tokens for document in read], self.backbone, progress, on_tokens)
        for document, (_, vectors) in zip(read, found, strict=True):
            yield document, KnownVectors(SentenceVectors(vectors, self.background.expectations(vectors)))


def meaning_of(backbone: AnyBackbone, background: Background) -> TableMeaning | TransformerMeaning:
    """How documents get vectors by this backbone."""
    if isinstance(backbone, TokenVectors):
        return TableMeaning(backbone, background)
    return TransformerMeaning(backbone, background)


def load_backbone(name: str | None = None) -> AnyBackbone:
    """Token vectors, the shipped ones or those of a folder; or the transformer of a name or a folder."""
    if name in (None, TOKEN_VECTORS):
        return TokenVectors.load()
    if (Path(name) / TABLE).is_file():
        return TokenVectors.load(Path(name))
    return Backbone.load(name)


def load_recorded(name: str) -> AnyBackbone | None:
    """The backbone that a file names, from this computer alone; None where it would have to be fetched."""
    is_table = name == TOKEN_VECTORS or (Path(name) / TABLE).is_file()
    return load_backbone(name) if is_table else Backbone.load_recorded(name)


def encode_sentences(
    documents: Sequence[Document], backbone: AnyBackbone, progress: Progress | None = None
) -> Iterator[tuple[Sentences, Array]]:
    """Each document's sentences and their vectors (sentences, width), in the order given."""
    if not isinstance(backbone, TokenVectors):
        yield from sentence_vectors(documents, backbone, progress)
        return
    for document in documents:
        read = tokenize_words(document, backbone)
        words = read.terms.words
        yield read.sentences, summed_sentences(backbone, read.tokens, numbered(words), words.offsets)
        if progress:
            progress(1)


def tokenize_words(document: Document, table: TokenVectors) -> Tokenised[WordTokens]:
    """The sentences of a document as they stand, and the tokens of its distinct words."""
    terms, words = spelled_terms_of(document)
    tokens = table.split(words)
    counts = np.diff(tokens.offsets)[numbered(terms.words)]  # of the tokens of each running word
    lengths = np.bincount(terms.words.sentence, counts, len(terms.words.offsets) - 1).astype(np.int64)
    return Tokenised(Sentences.of_document(document, lengths), terms, tokens)


def summed_sentences(table: TokenVectors, tokens: WordTokens, stream: Ints, offsets: Ints) -> Array:
    """The vectors of a document's sentences; one without words has that of the sentence before it, or of the first."""
    vectors = table.encode(tokens, stream, offsets)
    has_words = np.diff(offsets) > 0
    if has_words.all() or not has_words.any():
        return vectors
    last = np.maximum.accumulate(np.where(has_words, np.arange(len(vectors)), 0))
    return vectors[np.maximum(last, np.argmax(has_words))]


def encode_texts(backbone: AnyBackbone, texts: Sequence[str]) -> Array:
    """A vector a title or a sentence, zeros for an empty one; a transformer reads no more than it does at once."""
    if not isinstance(backbone, TokenVectors):
        return title_vectors(texts, backbone)
    words = words_of_each(texts)
    flat = list(chain.from_iterable(words))
    offsets = offsets_of(np.array([len(each) for each in words], dtype=np.int64))
    return backbone.encode(backbone.split(flat), np.arange(len(flat)), offsets)


def numbered(words: Stream) -> Ints:
    """The running words as positions among the distinct ones."""
    return np.searchsorted(words.counts.ids, words.ids)
