"""Attention by torch's flash kernels, which take packed sequences of any length; on a GPU, in 16 bits."""

import torch
from torch import Tensor

from longmatch.lab.encoders.packed.plain_attention import Saved

MAX_HEAD_SIZE = 256


def forward(qkv: Tensor, offsets: Tensor, longest: int, dropout: float) -> Saved:
    """(tokens, 3, heads, size) -> (tokens, heads, size)."""
    arguments = (*qkv.unbind(1), offsets, offsets, longest, longest, dropout, False, False)
    out, log_sums, seeds = torch.ops.aten._flash_attention_forward(*arguments)[:3]
    if seeds.shape != (2,) or seeds.dtype != torch.uint64:  # no dropout
        seeds = torch.zeros(2, dtype=torch.uint64, device=qkv.device)
    return out.contiguous(), log_sums, seeds


def backward(grad: Tensor, qkv: Tensor, saved: Saved, offsets: Tensor, longest: int, dropout: float) -> Tensor:
    """Gradient of qkv (tokens, 3, heads, size) from that of the output (tokens, heads, size)."""
    (out, log_sums, seeds), unused = saved, torch.empty(0, dtype=torch.uint64, device=qkv.device)
    arguments = (*qkv.unbind(1), out, log_sums, offsets, offsets, longest, longest, dropout, False, seeds, unused)
    return torch.stack(torch.ops.aten._flash_attention_backward(grad, *arguments), dim=1)
