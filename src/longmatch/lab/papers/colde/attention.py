"""CoLDE section 3.2: multi-headed chunkwise attention."""

import torch
from torch import Tensor, nn

from longmatch.errors import LongmatchError


class ChunkwiseAttention(nn.Module):
    """The chunks of a section attend to the chunks of the next one.

    The attention weights are returned: they are the passage level of the explanation.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        if width % heads:
            raise LongmatchError(
                f"The setting attention_heads is {heads}; it must divide the backbone's width, {width}."
            )
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, width, bias=False)  # no bias: a chunk that attends to nothing takes nothing

    def forward(self, chunks: Tensor, section: Tensor, document: Tensor) -> tuple[Tensor, Tensor]:
        """What attention adds to each chunk (chunks, width), and the heads' mean weights (chunks, chunks)."""
        count, width = chunks.shape
        q, k, v = (
            layer(chunks).view(count, self.heads, -1).transpose(0, 1) for layer in (self.query, self.key, self.value)
        )  # (heads, chunks, width of a head)
        follows = (document[:, None] == document) & (section[:, None] + 1 == section)  # (queries, keys)
        scores = (q @ k.transpose(1, 2) / (width // self.heads) ** 0.5).masked_fill(~follows, float("-inf"))
        weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)  # rows without a next section have nothing but -inf
        added = (weights @ v).transpose(0, 1).reshape(count, width)
        return self.out(added), weights.mean(0)
