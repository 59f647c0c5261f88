"""Attention over sequences of up to 64 tokens, one tile each: our own Triton kernels, forward and backward.

The flash kernels use tiles of 128 tokens, which a sentence or a SMITH block leaves mostly empty. Here one program holds
a whole head of one sequence in a tile of 16, 32 or 64 tokens. The weights need not be saved: the backward pass
recomputes them, with the same dropout.
"""

import torch
from torch import Tensor

from longmatch.lab.encoders.packed.plain_attention import Saved, dropout_seeds, no_log_sums

MAX_TOKENS, HEAD_SIZES = 64, (16, 32, 64, 128)


def forward(qkv: Tensor, offsets: Tensor, longest: int, dropout: float) -> Saved:
    """(tokens, 3, heads, size) -> (tokens, heads, size)."""
    from longmatch.lab.encoders.packed.kernels.short_attention import short_forward

    tokens, _, heads, size = qkv.shape
    out, seeds, tile = qkv.new_empty((tokens, heads, size)), dropout_seeds(qkv, dropout), _tile(longest)
    arguments = (qkv, out, offsets, seeds.view(torch.int64), size**-0.5, dropout, heads, size, tile, dropout > 0)
    short_forward[((len(offsets) - 1) * heads,)](*arguments, num_warps=_warps(tile))
    return out, no_log_sums(qkv), seeds


def backward(grad: Tensor, qkv: Tensor, saved: Saved, offsets: Tensor, longest: int, dropout: float) -> Tensor:
    """Gradient of qkv (tokens, 3, heads, size) from that of the output (tokens, heads, size)."""
    from longmatch.lab.encoders.packed.kernels.short_attention import short_backward

    _, _, heads, size = qkv.shape
    grad_qkv, tile = torch.empty_like(qkv, memory_format=torch.contiguous_format), _tile(longest)
    settings = (size**-0.5, dropout, heads, size, tile, dropout > 0)
    arguments = (qkv, grad, grad_qkv, offsets, saved[2].view(torch.int64), *settings)
    short_backward[((len(offsets) - 1) * heads,)](*arguments, num_warps=_warps(tile))
    return grad_qkv


def _tile(longest: int) -> int:
    """The smallest tile that fits a sequence.

    >>> [_tile(longest) for longest in (3, 16, 17, 33, 64)]
    [16, 16, 32, 64, 64]
    """
    return next(tile for tile in (16, 32, 64) if longest <= tile)


def _warps(tile: int) -> int:
    return 4 if tile == 64 else 1
