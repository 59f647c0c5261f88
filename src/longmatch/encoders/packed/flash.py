"""Attention by torch's flash kernels, which take sequences of any lengths as they lie; on a GPU, in 16 bits."""

import torch
from torch import Tensor

from longmatch.encoders.packed.plain import Saved

LARGEST = 256  # numbers in a head


def forward(qkv: Tensor, offsets: Tensor, longest: int, dropout: float) -> Saved:
    """(tokens, 3, heads, size) -> (tokens, heads, size)."""
    parts = (*qkv.unbind(1), offsets, offsets, longest, longest, dropout, False, False)
    out, sums, drawn = torch.ops.aten._flash_attention_forward(*parts)[:3]
    if drawn.shape != (2,) or drawn.dtype != torch.uint64:  # nothing was drawn
        drawn = torch.zeros(2, dtype=torch.uint64, device=qkv.device)
    return out.contiguous(), sums, drawn


def backward(
    grad: Tensor, qkv: Tensor, out: Tensor, sums: Tensor, drawn: Tensor, offsets: Tensor, longest: int, dropout: float
) -> Tensor:
    """The gradient for (tokens, 3, heads, size) from that for (tokens, heads, size)."""
    unused = torch.empty(0, dtype=torch.uint64, device=qkv.device)
    parts = (*qkv.unbind(1), out, sums, offsets, offsets, longest, longest, dropout, False, drawn, unused)
    return torch.stack(torch.ops.aten._flash_attention_backward(grad, *parts), dim=1)
