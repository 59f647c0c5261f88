"""SMITH section 4.1.4: what the document level says, alone or beside a summary of the sentence level's vectors."""

import torch
from torch import Tensor, nn

from longmatch.encoders.ragged import segment_ids, segment_max, segment_mean, segment_sum
from longmatch.errors import LongmatchError
from longmatch.lab.papers.smith.config import Combine

WAYS = ("normal", "sum-concat", "mean-concat", "attention")


class Combined(nn.Module):
    """The document's vector: the first block's of the document level, by `way` joined with the sum, the mean or the
    weighted sum of all block vectors, through a dense layer, to length 1.
    """

    def __init__(self, way: Combine, width: int) -> None:
        super().__init__()
        if way not in WAYS:
            raise LongmatchError(f"The setting combine is {way!r}; it must be one of {', '.join(WAYS)}.")
        self.way = way
        self.dense = nn.Linear(width if way == "normal" else 2 * width, width)
        if way == "attention":
            self.projection = nn.Linear(width, width, bias=False)  # W
            self.question = nn.Linear(width, 1, bias=False)  # v

    def forward(self, blocks: Tensor, first: Tensor, offsets: Tensor) -> Tensor:
        """From block vectors (blocks, width) and the document level's first ones: (documents, width)."""
        parts = [first] if self.way == "normal" else [self._summary(blocks, offsets), first]
        return nn.functional.normalize(self.dense(torch.cat(parts, dim=1)), dim=1)

    def _summary(self, blocks: Tensor, offsets: Tensor) -> Tensor:
        if self.way == "sum-concat":
            return segment_sum(blocks, offsets)
        if self.way == "mean-concat":
            return segment_mean(blocks, offsets)
        return segment_sum(blocks * self.weights(blocks, offsets), offsets)

    def weights(self, blocks: Tensor, offsets: Tensor) -> Tensor:
        """softmax(h_i W v) over the blocks of each document: (blocks, 1)."""
        scores = self.question(self.projection(blocks))
        own = segment_ids(offsets, len(blocks))
        raised = (scores - segment_max(scores.detach(), offsets)[own]).exp()
        weights: Tensor = raised / segment_sum(raised, offsets)[own]
        return weights
