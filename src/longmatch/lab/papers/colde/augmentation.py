"""CoLDE section 3.1, Aug(x): documents cut into a few sections, sections into chunks, chunks laid out flat."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from longmatch.lab.encoders.flat import FlatTokens, PieceBatch, groups_within
from longmatch.lab.encoders.ragged import offsets_of
from longmatch.units.pieces import piece_ends
from longmatch.units.tokens import Ints, Tokens

SPECIALS = 2  # tokens around each chunk


@dataclass(frozen=True)
class ChunkRanges:
    """The chunks of one document: chunk i is the tokens first[i]:last[i]."""

    first: Ints  # (chunks,)
    last: Ints  # (chunks,)
    section: Ints  # (chunks,) p, the section of each chunk
    position: Ints  # (chunks,) q, its position in the section, from 0

    def __len__(self) -> int:
        return len(self.first)


def chunk_ranges(tokens: Tokens, sections: int = 2, limit: int = 510) -> ChunkRanges:
    """Cut a document into sections of about equal length, and each section into chunks of at most `limit` tokens.

    Sections begin at headings; where there are too few headings, at paragraphs, then at sentences, then at any token. A
    document of fewer tokens than `sections` has fewer sections. Only the tokens are needed, not the document's text.
    """
    rows: list[tuple[int, int, int, int]] = []
    for section, (start, end) in enumerate(pairwise(section_bounds(tokens, sections))):
        ends = piece_ends(tokens, start, end, limit)
        rows += [(first, last, section, position) for position, (first, last) in enumerate(pairwise([start, *ends]))]
    return ChunkRanges(*np.array(rows, dtype=np.int64).reshape(-1, 4).T)


def section_bounds(tokens: Tokens, sections: int) -> list[int]:
    """The first token of each section, and the end: as evenly spaced as the document's structure allows."""
    total = len(tokens)
    sections = max(1, min(sections, total))
    sentences = tokens.sentence_offsets[1:-1]
    headings = sentences[np.diff(tokens.sentence_section) > 0]
    paragraphs = sentences[np.diff(tokens.sentence_paragraph) > 0]
    for candidates in (headings, paragraphs, sentences, np.arange(1, total)):  # the best kind of place first
        if len(candidates) >= sections - 1:
            break
    bounds = [0]
    for number in range(1, sections):
        left = candidates[candidates > bounds[-1]]
        left = left[: len(left) - (sections - 1 - number)]  # leave one candidate for each cut to come
        bounds.append(int(left[np.abs(left - total * number / sections).argmin()]))
    return [*bounds, total]


@dataclass(frozen=True)
class ChunkBatch(PieceBatch):
    """The chunks of a batch of documents, one after another."""

    section: Tensor  # (chunks,) the section of each chunk, numbered within its document
    position: Tensor  # (chunks,) its position in the section
    document: Tensor  # (chunks,) its document, numbered within the batch

    def __len__(self) -> int:
        return len(self.text)

    @property
    def lengths(self) -> Tensor:
        """The tokens of each chunk without the special ones: (chunks,)."""
        return self.text.lengths - SPECIALS

    def groups(self, budget: int) -> Iterator["ChunkBatch"]:
        """Runs of whole documents of at most `budget` tokens; a longer document is a group by itself."""
        counts = torch.unique_consecutive(self.document, return_counts=True)[1]
        chunks = offsets_of(counts)  # first chunk of each document
        for run in groups_within(offsets_of(self.text.lengths)[chunks].diff(), budget):
            first, last = (int(chunks[place]) for place in run)
            numbers = (values[first:last] for values in (self.section, self.position, self.document))
            yield ChunkBatch(self.text.between(first, last), *numbers)


@dataclass(frozen=True)
class ChunkLayout:
    """How documents are cut for a model: sections, tokens per chunk, the special tokens around each chunk.

    `max_tokens` truncates documents (the paper's study of document length, section 4.4.2, and cheaper training).
    """

    sections: int
    limit: int  # tokens per chunk without the special ones
    specials: tuple[int, int]
    max_tokens: int | None = None

    def ranges(self, tokens: Tokens) -> ChunkRanges:
        """The chunks of a document within its first `max_tokens` tokens."""
        return chunk_ranges(tokens.truncated(self.max_tokens), self.sections, self.limit)

    def lay_out(self, documents: Sequence[Tokens]) -> ChunkBatch:
        """The chunks of documents as one batch."""
        cuts = [self.ranges(tokens) for tokens in documents]
        pieces = [
            tokens.ids[first:last]
            for tokens, cut in zip(documents, cuts, strict=True)
            for first, last in zip(cut.first.tolist(), cut.last.tolist(), strict=True)
        ]
        return ChunkBatch(
            FlatTokens.of(pieces, self.specials),
            torch.from_numpy(np.concatenate([cut.section for cut in cuts])),
            torch.from_numpy(np.concatenate([cut.position for cut in cuts])),
            torch.repeat_interleave(torch.tensor([len(cut) for cut in cuts])),
        )
