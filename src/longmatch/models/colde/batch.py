"""Documents as CoLDE reads them: chunks laid out flat, each with its section, its place there and its document."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from longmatch.encoders.ragged import offsets_of
from longmatch.units.parts import Ranges, part_ranges
from longmatch.units.tokens import Tokens


@dataclass(frozen=True)
class ChunkBatch:
    """The chunks of some documents, one after another, without padding."""

    ids: Tensor  # (tokens,) special tokens included
    lengths: Tensor  # (chunks,) tokens in each; stays on the CPU, for it decides what is read together
    section: Tensor  # (chunks,) which part of its document
    place: Tensor  # (chunks,) which chunk of its section
    document: Tensor  # (chunks,) which document of the batch

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def tokens(self) -> int:
        """How many tokens the model reads, special ones included."""
        return len(self.ids)

    def to(self, device: torch.device) -> "ChunkBatch":
        """The same on another device."""
        moved = {name: getattr(self, name).to(device) for name in ("ids", "section", "place", "document")}
        return replace(self, **moved)

    def padded(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Some chunks side by side, ids and mask: (rows, longest of them)."""
        starts, lengths = (x[rows].to(self.ids.device)[:, None] for x in (offsets_of(self.lengths), self.lengths))
        places = torch.arange(int(self.lengths[rows].max()), device=self.ids.device)
        mask = places < lengths
        return self.ids[torch.where(mask, starts + places, 0)] * mask, mask.long()

    def groups(self, budget: int) -> Iterator["ChunkBatch"]:
        """Runs of whole documents of at most `budget` tokens each; a longer document is a group of its own."""
        document = self.document.cpu()
        last = torch.cat([document.diff() != 0, torch.ones(1, dtype=torch.bool)])
        ends = (last.nonzero().flatten() + 1).tolist()  # the chunk after each document
        before = offsets_of(self.lengths).tolist()
        start = end = 0
        for following in ends:
            if end > start and before[following] - before[start] > budget:
                yield self._rows(start, end, before)
                start = end
            end = following
        yield self._rows(start, end, before)

    def _rows(self, start: int, end: int, before: list[int]) -> "ChunkBatch":
        rows = slice(start, end)
        return ChunkBatch(
            self.ids[before[start] : before[end]],
            self.lengths[rows],
            self.section[rows],
            self.place[rows],
            self.document[rows],
        )


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
        return tokens if self.max_tokens is None else opening(tokens, self.max_tokens)

    def ranges(self, tokens: Tokens) -> Ranges:
        """The chunks of what is read of a document."""
        return part_ranges(self.read(tokens), self.sections, self.limit)

    def lay_out(self, documents: Sequence[Tokens]) -> ChunkBatch:
        """The chunks of documents, flat."""
        cuts = [self.ranges(tokens) for tokens in documents]
        first, last = self.specials
        ids = np.concatenate(
            [
                piece
                for tokens, cut in zip(documents, cuts, strict=True)
                for start, end in zip(cut.first.tolist(), cut.last.tolist(), strict=True)
                for piece in ([first], tokens.ids[start:end], [last])
            ]
        )
        return ChunkBatch(
            torch.from_numpy(ids.astype(np.int64)),
            torch.from_numpy(np.concatenate([cut.last - cut.first + 2 for cut in cuts])),
            torch.from_numpy(np.concatenate([cut.part for cut in cuts])),
            torch.from_numpy(np.concatenate([cut.place for cut in cuts])),
            torch.repeat_interleave(torch.tensor([len(cut) for cut in cuts])),
        )


def opening(tokens: Tokens, count: int) -> Tokens:
    """The first `count` tokens of a document; the sentence in which the cut falls is shortened."""
    if len(tokens) <= count:
        return tokens
    kept = int(np.searchsorted(tokens.sentence_offsets, count))  # sentences that begin before the cut
    return replace(
        tokens,
        ids=tokens.ids[:count],
        starts=tokens.starts[:count],
        word_starts=tokens.word_starts[:count],
        sentence_offsets=np.append(tokens.sentence_offsets[:kept], count),
        sentence_ends=tokens.sentence_ends[:kept],
        sentence_paragraph=tokens.sentence_paragraph[:kept],
        sentence_section=tokens.sentence_section[:kept],
    )
