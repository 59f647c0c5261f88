"""Pieces of a document: flat arrays of token ranges and character spans."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from longmatch.documents.document import Document, Span
from longmatch.documents.spans import strip_span
from longmatch.units.tokens import Ints, Tokens


@dataclass(frozen=True)
class Pieces:
    """Consecutive pieces of a document: piece i has the tokens first[i]:last[i], the characters starts[i]:ends[i]."""

    tokens: Tokens
    first: Ints
    last: Ints
    starts: Ints
    ends: Ints
    sentence: Ints  # the sentence in which each piece begins

    @property
    def document(self) -> Document:
        """The document the pieces belong to."""
        return self.tokens.document

    @property
    def paragraph(self) -> Ints:
        """The running paragraph in which each piece begins."""
        return self.tokens.sentence_paragraph[self.sentence]

    @property
    def section(self) -> Ints:
        """The section in which each piece begins."""
        return self.tokens.sentence_section[self.sentence]

    @property
    def lengths(self) -> Ints:
        """Number of tokens of each piece."""
        return self.last - self.first

    def __len__(self) -> int:
        return len(self.first)

    def __getitem__(self, index: int) -> Span:
        return Span(int(self.starts[index]), int(self.ends[index]))

    def __iter__(self) -> Iterator[Span]:
        return (self[i] for i in range(len(self)))

    def ids(self, index: int) -> Ints:
        """The token ids of a piece."""
        return self.tokens.ids[self.first[index] : self.last[index]]

    def text(self, index: int) -> str:
        """The text of a piece, markup included."""
        return self[index].of(self.document.text)


def pieces_from(tokens: Tokens, first: list[int] | Ints, last: list[int] | Ints) -> Pieces:
    """Pieces of the token ranges first[i]:last[i]. A span extends to the next token, so that no character is lost.

    For stored tokens without the document's text the spans are empty.
    """
    first, last = np.array(first, dtype=np.int64), np.array(last, dtype=np.int64)
    sentence = np.searchsorted(tokens.sentence_offsets, first, side="right") - 1
    if not tokens.document.text:
        return Pieces(tokens, first, last, np.zeros_like(first), np.zeros_like(first), sentence)
    last_sentence = np.searchsorted(tokens.sentence_offsets, last - 1, side="right") - 1
    at_start = first == tokens.sentence_offsets[sentence]
    at_end = last == tokens.sentence_offsets[last_sentence + 1]
    starts = np.where(at_start, _sentence_starts(tokens)[sentence], tokens.starts[first])
    next_starts = tokens.starts[np.minimum(last, len(tokens) - 1)]
    ends = np.where(at_end, tokens.sentence_ends[last_sentence], next_starts)
    for i in np.flatnonzero(~at_start | ~at_end):  # split inside a sentence: strip white space at the split
        span = strip_span(tokens.document.text, int(starts[i]), int(ends[i]))
        starts[i], ends[i] = span.start, span.end
    return Pieces(tokens, first, last, starts, ends, sentence)


def _sentence_starts(tokens: Tokens) -> Ints:
    spans = (s.start for s in tokens.document.sentences)
    return np.fromiter(spans, np.int64, len(tokens.sentence_ends))
