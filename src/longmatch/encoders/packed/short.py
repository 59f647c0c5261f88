"""Attention over sequences of up to 64 tokens in one tile each, forth and back: a kernel of our own, in Triton.

The flash kernels have tiles of 128 tokens, most of which a sentence or one of SMITH's blocks would leave empty. Here a
program holds one head of one sequence whole, in a tile of 16, 32 or 64 tokens. So the weights need not be kept: the way
back works them out again, with the same numbers dropped.
"""

import torch
from torch import Tensor

from longmatch.encoders.packed.plain import Saved, no_sums, seeds

LONGEST, SIZES = 64, (16, 32, 64, 128)  # tokens of a sequence; numbers in a head


def forward(qkv: Tensor, offsets: Tensor, longest: int, dropout: float) -> Saved:
    """(tokens, 3, heads, size) -> (tokens, heads, size)."""
    from longmatch.encoders.packed.kernels.short import short_forward

    tokens, _, heads, size = qkv.shape
    out, drawn, tile = qkv.new_empty((tokens, heads, size)), seeds(qkv, dropout), _tile(longest)
    given = (qkv, out, offsets, drawn.view(torch.int64), size**-0.5, dropout, heads, size, tile, dropout > 0)
    short_forward[((len(offsets) - 1) * heads,)](*given, num_warps=_warps(tile))
    return out, no_sums(qkv), drawn


def backward(
    grad: Tensor, qkv: Tensor, out: Tensor, sums: Tensor, drawn: Tensor, offsets: Tensor, longest: int, dropout: float
) -> Tensor:
    """The gradient for (tokens, 3, heads, size) from that for (tokens, heads, size)."""
    from longmatch.encoders.packed.kernels.short import short_backward

    _, _, heads, size = qkv.shape
    found, tile = torch.empty_like(qkv, memory_format=torch.contiguous_format), _tile(longest)
    given = (qkv, grad, found, offsets, drawn.view(torch.int64), size**-0.5, dropout, heads, size, tile, dropout > 0)
    short_backward[((len(offsets) - 1) * heads,)](*given, num_warps=_warps(tile))
    return found


def _tile(longest: int) -> int:
    """The smallest tile that holds a sequence.

    >>> [_tile(longest) for longest in (3, 16, 17, 33, 64)]
    [16, 16, 32, 64, 64]
    """
    return next(tile for tile in (16, 32, 64) if longest <= tile)


def _warps(tile: int) -> int:
    return 4 if tile == 64 else 1
