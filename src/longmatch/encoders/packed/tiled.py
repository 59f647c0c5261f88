"""Attention tile by tile, forth and back, for sequences of more than 64 tokens and small heads: in Triton.

Forth it is a little faster than torch's flash kernels where heads are small. Back, one program holds one head of one
sequence, so that the gradient lies where the next product wants it, and the same numbers come out every time.
"""

import math

import torch
from torch import Tensor

from longmatch.encoders.packed.plain import Saved, seeds

LONGEST, SIZES = 512, (16, 32)  # tokens of a sequence; numbers in a head: beyond these flash.py is faster
FORTH, BACK = (128, 32), (32, 128)  # queries and keys in a tile


def forward(qkv: Tensor, offsets: Tensor, longest: int, dropout: float) -> Saved:
    """(tokens, 3, heads, size) -> (tokens, heads, size)."""
    from longmatch.encoders.packed.kernels.tiled import tiled_forward

    tokens, _, heads, size = qkv.shape
    out, drawn = qkv.new_empty((tokens, heads, size)), seeds(qkv, dropout)
    sums = qkv.new_empty((heads, tokens), dtype=torch.float32)
    given = (qkv, out, sums, offsets, drawn.view(torch.int64), _scale(size), dropout, heads, tokens)
    grid = ((len(offsets) - 1) * heads, -(-longest // FORTH[0]))
    tiled_forward[grid](*given, size, *FORTH, dropout > 0, num_warps=4)
    return out, sums, drawn


def backward(
    grad: Tensor, qkv: Tensor, out: Tensor, sums: Tensor, drawn: Tensor, offsets: Tensor, longest: int, dropout: float
) -> Tensor:
    """The gradient for (tokens, 3, heads, size) from that for (tokens, heads, size)."""
    from longmatch.encoders.packed.kernels.tiled import tiled_backward

    tokens, _, heads, size = qkv.shape
    found, alongs, queries = torch.empty_like(qkv), torch.empty_like(sums), torch.empty_like(grad, dtype=torch.float32)
    given = (qkv, out, grad, sums, offsets, drawn.view(torch.int64), alongs, queries, found, _scale(size), dropout)
    grid = ((len(offsets) - 1) * heads,)
    tiled_backward[grid](*given, heads, tokens, size, *BACK, dropout > 0, num_warps=4, num_stages=3)
    return found


def _scale(size: int) -> float:
    """By what scores are multiplied, for powers of 2 in the place of powers of e."""
    return math.log2(math.e) / math.sqrt(size)
