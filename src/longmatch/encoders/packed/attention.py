"""Attention within each of many sequences that lie one after another in one array, none of them padded.

One operation, which torch.compile takes as it is, over three ways: short.py for sequences of up to 64 tokens and
flash.py for others, both on a GPU in 16 bits, and plain.py, the obvious one, for all else. The first two are tried on a
few drawn sequences before their first use: one that fails, or gives other numbers than plain.py, is left out with one
warning. LONGMATCH_SHORT=0 leaves out the first.
"""

import os
import warnings
from functools import cache
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from longmatch.encoders.packed import flash, plain, short
from longmatch.errors import LongmatchWarning

HALF = (torch.bfloat16, torch.float16)
NEAR = 0.03  # how far a kernel may be from the obvious way, of the largest number: bfloat16 has 8 bits
TRIED = {flash: ((1, 200, 64, 129, 7),), short: ((1, 64, 5, 33), (32, 1, 17), (9, 16, 1))}  # lengths


def attend(qkv: Tensor, offsets: Tensor, longest: Tensor, dropout: float = 0.0) -> Tensor:
    """What each token takes from those of its own sequence: (tokens, 3, heads, size) -> (tokens, heads, size).

    `offsets` (sequences + 1,) are int32, on the device. `longest`, how many tokens the longest sequence has, is on the
    CPU: compiled code passes it on unseen. `dropout` is the share of the weights that are dropped.
    """
    found: Tensor = _attend(qkv, offsets, longest, dropout)[0]
    return found


@torch.library.custom_op("longmatch::attend", mutates_args=())
def _attend(qkv: Tensor, offsets: Tensor, longest: Tensor, dropout: float) -> tuple[Tensor, Tensor, Tensor]:
    most = int(longest)
    found: tuple[Tensor, Tensor, Tensor] = _way(qkv, most).forward(qkv, offsets, most, dropout)
    return found


@_attend.register_fake
def _(qkv: Tensor, offsets: Tensor, longest: Tensor, dropout: float) -> tuple[Tensor, Tensor, Tensor]:
    tokens, _, heads, size = qkv.shape
    sums = qkv.new_empty((heads, tokens), dtype=torch.float32)
    return qkv.new_empty((tokens, heads, size)), sums, qkv.new_empty(2, dtype=torch.uint64)


@torch.library.custom_op("longmatch::attend_backward", mutates_args=())
def _attend_backward(
    grad: Tensor,
    qkv: Tensor,
    out: Tensor,
    sums: Tensor,
    drawn: Tensor,
    offsets: Tensor,
    longest: Tensor,
    dropout: float,
) -> Tensor:
    most = int(longest)
    given = (grad.contiguous(), qkv, out, sums, drawn, offsets, most, dropout)
    found: Tensor = _way(qkv, most).backward(*given).contiguous()
    return found


@_attend_backward.register_fake
def _(grad: Tensor, qkv: Tensor, *others: Any) -> Tensor:
    return qkv.new_empty(qkv.shape)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
    qkv, offsets, longest, ctx.dropout = inputs
    ctx.save_for_backward(qkv, *output, offsets, longest)


def _back(ctx: Any, grad: Tensor, *unused: Any) -> tuple[Tensor, None, None, None]:
    return _attend_backward(grad, *ctx.saved_tensors, ctx.dropout), None, None, None


_attend.register_autograd(_back, setup_context=_keep)


def _way(qkv: Tensor, longest: int) -> ModuleType:
    """The fastest way there is for such sequences."""
    size = qkv.shape[3]
    if qkv.device.type != "cuda" or qkv.dtype not in HALF:
        return plain
    is_short = longest <= short.LONGEST and size in short.SIZES and os.environ.get("LONGMATCH_SHORT") != "0"
    if is_short and _works(short, qkv.dtype, size):
        return short
    return flash if size % 8 == 0 and size <= flash.LARGEST and _works(flash, qkv.dtype, size) else plain


@cache
def _works(way: ModuleType, dtype: torch.dtype, size: int) -> bool:
    """Whether it gives what the obvious way gives, forth and back, on a few drawn sequences."""
    name = way.__name__.rpartition(".")[2]
    try:
        worst = max(error(way, lengths, dtype, size, torch.device("cuda")) for lengths in TRIED[way])
        reason = "" if worst <= NEAR else f"it is off by {worst:.3f}"
    except Exception as problem:  # whatever it is: there is another way
        reason = f"{type(problem).__name__}: {problem}".splitlines()[0]
    if reason:
        warnings.warn(f"The {name} attention kernel is not used ({reason}).", LongmatchWarning, stacklevel=2)
    return not reason


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
    pairs = zip(*both, strict=True)
    return max(float((ours.float() - judge).abs().max() / judge.abs().max()) for ours, judge in pairs)
