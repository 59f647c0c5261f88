"""Attention within each of many sequences that lie one after another in one array, none of them padded.

One operation over four ways: short.py for sequences of up to 64 tokens, tiled.py for longer ones and flash.py for the
longest and for large heads, all three on a GPU in 16 bits, and plain.py, the obvious one, for all else. The first three
are tried on a few drawn sequences before their first use: one that fails, or gives other numbers than plain.py, is left
out with one warning. LONGMATCH_KERNELS=0 leaves out the first two.
"""

from functools import cache
from types import ModuleType
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from longmatch.encoders.packed import flash, plain, short, tiled
from longmatch.encoders.packed.kernel_check import are_wanted, largest_error, works
from longmatch.encoders.packed.plain import Saved

HALF = (torch.bfloat16, torch.float16)
TRIED = {
    flash: ((1, 200, 64, 129, 7),),
    tiled: ((1, 200, 64, 129, 7), (300, 65)),
    short: ((1, 64, 5, 33), (32, 1, 17), (9, 16, 1)),
}  # lengths


def attend(qkv: Tensor, offsets: Tensor, longest: int, dropout: float = 0.0) -> Tensor:
    """What each token takes from those of its own sequence: (tokens, 3, heads, size) -> (tokens, heads, size).

    `offsets` (sequences + 1,) are int32, on the device; `longest` is how many tokens the longest sequence has, and
    `dropout` the share of the weights that are dropped.
    """
    found: Tensor = _Attend.apply(qkv, offsets, longest, dropout)
    return found


class _Attend(torch.autograd.Function):
    """Forth and back by the same way."""

    @staticmethod
    def forward(ctx: Any, qkv: Tensor, offsets: Tensor, longest: int, dropout: float) -> Tensor:
        ctx.facts, ctx.way = (longest, dropout), way_for(qkv, longest)
        saved: Saved = ctx.way.forward(qkv, offsets, longest, dropout)
        ctx.save_for_backward(qkv, *saved, offsets)
        return saved[0]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        return ctx.way.backward(grad.contiguous(), *ctx.saved_tensors, *ctx.facts), None, None, None


def way_for(qkv: Tensor, longest: int) -> ModuleType:
    """The fastest way there is for such sequences."""
    size = qkv.shape[3]
    if qkv.device.type != "cuda" or qkv.dtype not in HALF:
        return plain
    for way in (short, tiled) if are_wanted() else ():
        if longest <= way.LONGEST and size in way.SIZES and _works(way, qkv.dtype, size):
            return way
    return flash if size % 8 == 0 and size <= flash.LARGEST and _works(flash, qkv.dtype, size) else plain


@cache
def _works(way: ModuleType, dtype: torch.dtype, size: int) -> bool:
    kinds = [(lengths, dtype, size, torch.device("cuda")) for lengths in TRIED[way]]
    return works(f"{way.__name__.rpartition('.')[2]} attention", lambda: max(error(way, *kind) for kind in kinds))


@torch.no_grad()
def error(way: ModuleType, lengths: tuple[int, ...], dtype: torch.dtype, size: int, device: torch.device) -> float:
    """How far a way is from the obvious one, forth and back, as a share of the largest number."""
    random = torch.Generator().manual_seed(0)
    drawn = torch.randn(sum(lengths), 4, 4, size, generator=random).to(device, dtype)
    qkv, grad = drawn[:, :3].contiguous(), drawn[:, 3].contiguous()
    offsets = torch.tensor([0, *lengths]).cumsum(0).to(device, torch.int32)
    both = []
    for each, precision in ((way, dtype), (plain, torch.float32)):
        given, above = qkv.to(precision), grad.to(precision)
        out, sums, seeds = each.forward(given, offsets, max(lengths), 0.0)
        both.append((out, each.backward(above, given, out, sums, seeds, offsets, max(lengths), 0.0)))
    return max(largest_error(*pair) for pair in zip(*both, strict=True))
