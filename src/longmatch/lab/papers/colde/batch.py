"""Documents as CoLDE reads them: chunks laid out flat, each with its section, its place there and its document."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from longmatch.encoders.flat import FlatTokens, PieceBatch
from longmatch.encoders.ragged import offsets_of
from longmatch.lab.papers.colde.parts import Ranges, part_ranges
from longmatch.units.tokens import Tokens


@dataclass(frozen=True)
class ChunkBatch(PieceBatch):
    """The chunks of some documents, one after another."""

    section: Tensor  # (chunks,) which part of its document
    place: Tensor  # (chunks,) which chunk of its section
    document: Tensor  # (chunks,) which document of the batch

    def __len__(self) -> int:
        return len(self.text)

    def groups(self, budget: int) -> Iterator["ChunkBatch"]:
        """Runs of whole documents of at most `budget` tokens each; a longer document is a group of its own."""
        counts = torch.unique_consecutive(self.document, return_counts=True)[1]
        chunks = offsets_of(counts)  # where each document begins
        for first, last in self._runs(counts, budget):
            yield self._between(int(chunks[first]), int(chunks[last]))

    def _between(self, first: int, last: int) -> "ChunkBatch":
        flat = (values[first:last] for values in (self.section, self.place, self.document))
        return ChunkBatch(self.text.between(first, last), *flat)


@dataclass(frozen=True)
class Layout:
    """How documents are cut for a model: sections, tokens a chunk, the special tokens around each chunk.

    `max_tokens` cuts a document off (the paper's study of lengths, section 4.4.2, and training at reduced size).
    """

    sections: int
    limit: int  # tokens a chunk, special ones not counted
    specials: tuple[int, int]
    max_tokens: int | None = None

    def read(self, tokens: Tokens) -> Tokens:
        """The part of a document that is read: all of it, unless there is a limit."""
        return tokens.truncated(self.max_tokens)

    def ranges(self, tokens: Tokens) -> Ranges:
        """The chunks of what is read of a document."""
        return part_ranges(self.read(tokens), self.sections, self.limit)

    def lay_out(self, documents: Sequence[Tokens]) -> ChunkBatch:
        """The chunks of documents, flat."""
        cuts = [self.ranges(tokens) for tokens in documents]
        pieces = [
            tokens.ids[first:last]
            for tokens, cut in zip(documents, cuts, strict=True)
            for first, last in zip(cut.first.tolist(), cut.last.tolist(), strict=True)
        ]
        return ChunkBatch(
            FlatTokens.of(pieces, self.specials),
            torch.from_numpy(np.concatenate([cut.part for cut in cuts])),
            torch.from_numpy(np.concatenate([cut.place for cut in cuts])),
            torch.repeat_interleave(torch.tensor([len(cut) for cut in cuts])),
        )
