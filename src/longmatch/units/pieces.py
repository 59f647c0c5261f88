"""The pieces a document is cut into: flat arrays of token ranges and character spans."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from longmatch.documents.document import Document, Span
from longmatch.units.tokens import Ints, Tokens


@dataclass(frozen=True)
class Pieces:
    """Consecutive pieces of one document: piece i is the tokens first[i]:last[i], the characters starts[i]:ends[i]."""

    tokens: Tokens
    first: Ints
    last: Ints
    starts: Ints
    ends: Ints
    sentence: Ints  # the sentence in which each piece begins

    @property
    def document(self) -> Document:
        """The document the pieces are of."""
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
        """Tokens in each piece."""
        return self.last - self.first

    def __len__(self) -> int:
        return len(self.first)

    def __getitem__(self, index: int) -> Span:
        return Span(int(self.starts[index]), int(self.ends[index]))

    def __iter__(self) -> Iterator[Span]:
        return (self[i] for i in range(len(self)))

    def ids(self, index: int) -> Ints:
        """The token ids of one piece."""
        return self.tokens.ids[self.first[index] : self.last[index]]

    def text(self, index: int) -> str:
        """The characters of one piece, as they stand in the source."""
        return self[index].of(self.document.text)


def pieces_from(tokens: Tokens, first: list[int] | Ints, last: list[int] | Ints) -> Pieces:
    """Give token ranges their character spans. A piece reaches to the next token, so that no character is lost.

    Where the tokens are all that is left of the document, as on a shelf, the spans are empty.
    """
    a, b = np.array(first, dtype=np.int64), np.array(last, dtype=np.int64)
    sentence = np.searchsorted(tokens.sentence_offsets, a, side="right") - 1
    if not tokens.document.text:
        return Pieces(tokens, a, b, np.zeros_like(a), np.zeros_like(a), sentence)
    final = np.searchsorted(tokens.sentence_offsets, b - 1, side="right") - 1  # the sentence in which a piece ends
    opens = a == tokens.sentence_offsets[sentence]
    closes = b == tokens.sentence_offsets[final + 1]
    sentence_starts = _sentence_starts(tokens)
    starts = np.where(opens, sentence_starts[sentence], tokens.starts[a])
    following = tokens.starts[np.minimum(b, len(tokens) - 1)]
    ends = np.where(closes, tokens.sentence_ends[final], following)
    text = tokens.document.text
    for i in np.flatnonzero(~opens | ~closes):  # cut inside a sentence: leave the white space at the cut out
        piece = text[starts[i] : ends[i]]
        starts[i] += len(piece) - len(piece.lstrip())
        ends[i] = starts[i] + len(piece.strip())
    return Pieces(tokens, a, b, starts, ends, sentence)


def _sentence_starts(tokens: Tokens) -> Ints:
    spans = (s.start for s in tokens.document.sentences)
    return np.fromiter(spans, np.int64, len(tokens.sentence_ends))
