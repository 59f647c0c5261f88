"""Pieces of a document: CoLDE's chunks, SMITH's blocks, SDR's sentences, as flat arrays of token ranges and spans.

All of them cover the running text in order, without overlap; no piece has more than `limit` tokens.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from longmatch.documents.document import Document, Span, strip_span
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
    all_starts = (s.start for s in tokens.document.sentences)
    sentence_starts = np.fromiter(all_starts, np.int64, len(tokens.sentence_ends))
    starts = np.where(at_start, sentence_starts[sentence], tokens.starts[first])
    next_starts = tokens.starts[np.minimum(last, len(tokens) - 1)]
    ends = np.where(at_end, tokens.sentence_ends[last_sentence], next_starts)
    for i in np.flatnonzero(~at_start | ~at_end):  # split inside a sentence: strip white space at the split
        span = strip_span(tokens.document.text, int(starts[i]), int(ends[i]))
        starts[i], ends[i] = span.start, span.end
    return Pieces(tokens, first, last, starts, ends, sentence)


def sentences(tokens: Tokens, limit: int) -> Pieces:
    """One piece per sentence; a sentence of more than `limit` tokens becomes several."""
    return _cut(tokens, tokens.sentence_offsets.tolist(), limit)


def chunks(tokens: Tokens, limit: int = 510) -> Pieces:
    """CoLDE's chunks: up to `limit` tokens of one section, whole words, no overlap."""
    section_starts = np.flatnonzero(np.diff(tokens.sentence_section)) + 1
    return _cut(tokens, [0, *tokens.sentence_offsets[section_starts].tolist(), len(tokens)], limit)


def _cut(tokens: Tokens, bounds: list[int], limit: int) -> Pieces:
    """Pieces of at most `limit` tokens that end at all the bounds."""
    offsets = [0]
    for start, end in pairwise(bounds):
        offsets += piece_ends(tokens, start, end, limit)
    return pieces_from(tokens, offsets[:-1], offsets[1:])


def block_ranges(
    tokens: Tokens, limit: int = 32, *, cut_long: bool = False, max_blocks: int | None = None
) -> tuple[Ints, Ints]:
    """SMITH's greedy sentence filling (section 4.1.1): whole sentences until the next one does not fit.

    Block i of the first `max_blocks` has the tokens first[i]:last[i]; the document's text is not needed. A sentence
    longer than a block starts a new block and continues in the following ones; with `cut_long` its rest is dropped
    instead, as in the paper.
    """
    first: list[int] = []
    last: list[int] = []
    for start, end in pairwise(tokens.sentence_offsets.tolist()):
        if first and last[-1] == start and end - first[-1] <= limit:
            last[-1] = end
            continue
        if max_blocks is not None and len(first) >= max_blocks:
            break
        offsets = [start, *piece_ends(tokens, start, end, limit)]
        if cut_long:
            offsets = offsets[:2]
        first += offsets[:-1]
        last += offsets[1:]
    return np.array(first[:max_blocks], dtype=np.int64), np.array(last[:max_blocks], dtype=np.int64)


def piece_ends(tokens: Tokens, start: int, end: int, limit: int) -> list[int]:
    """End offsets of the pieces of tokens start:end: every `limit` tokens, or at the last word start shortly before."""
    ends = []
    while end - start > limit:
        stop = start + limit
        word_start = int(tokens.last_word_start[stop])
        stop = word_start if word_start >= stop - limit // 4 else stop
        ends.append(stop)
        start = stop
    if end > start:
        ends.append(end)
    return ends
