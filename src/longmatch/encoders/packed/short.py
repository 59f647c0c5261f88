"""Attention over sequences of up to 64 tokens in one tile each, forth and back: a kernel of our own, in Triton.

The flash kernels have tiles of 128 tokens, most of which a sentence or one of SMITH's blocks would leave empty. Here a
program holds one head of one sequence whole, in a tile of 16, 32 or 64 tokens. So the weights need not be kept: the way
back works them out again, with the same numbers dropped.
"""

from typing import Any

import torch
from torch import Tensor

from longmatch.encoders.packed.plain import Saved, no_sums, seeds

LONGEST, SIZES = 64, (16, 32, 64, 128)  # tokens of a sequence; numbers in a head
_kernels: list[Any] = []


def forward(qkv: Tensor, offsets: Tensor, longest: int, dropout: float) -> Saved:
    """(tokens, 3, heads, size) -> (tokens, heads, size)."""
    tokens, _, heads, size = qkv.shape
    out, drawn = qkv.new_empty((tokens, heads, size)), seeds(qkv, dropout)
    given = (qkv, out, offsets, drawn.view(torch.int64), size**-0.5, dropout)
    run, tile = _compiled()[0], _tile(longest)
    run[((len(offsets) - 1) * heads,)](*given, heads, size, tile, dropout > 0, num_warps=_warps(tile))
    return out, no_sums(qkv), drawn


def backward(
    grad: Tensor, qkv: Tensor, out: Tensor, sums: Tensor, drawn: Tensor, offsets: Tensor, longest: int, dropout: float
) -> Tensor:
    """The gradient for (tokens, 3, heads, size) from that for (tokens, heads, size)."""
    _, _, heads, size = qkv.shape
    found = torch.empty_like(qkv, memory_format=torch.contiguous_format)
    given = (qkv, grad, found, offsets, drawn.view(torch.int64), size**-0.5, dropout)
    run, tile = _compiled()[1], _tile(longest)
    run[((len(offsets) - 1) * heads,)](*given, heads, size, tile, dropout > 0, num_warps=_warps(tile))
    return found


def _tile(longest: int) -> int:
    """The smallest tile that holds a sequence.

    >>> [_tile(longest) for longest in (3, 16, 17, 33, 64)]
    [16, 16, 32, 64, 64]
    """
    return next(tile for tile in (16, 32, 64) if longest <= tile)


def _warps(tile: int) -> int:
    return 4 if tile == 64 else 1


def _compiled() -> list[Any]:
    """The two kernels; made when first used, for there is no Triton without a GPU."""
    if not _kernels:
        from longmatch.encoders.packed import short_kernels

        _kernels.extend((short_kernels.forward, short_kernels.backward))
    return _kernels
