"""Attention within each of many packed sequences, without padding.

There are four backends. On a GPU in 16 bits: short_attention for sequences of up to 64 tokens, tiled_attention for
longer ones, flash_attention for the longest and for large heads. For everything else: plain_attention. The first three
are tried on random sequences before their first use: one that fails, or differs from plain_attention, is not used, with
one warning. LONGMATCH_KERNELS=0 turns off the first two.
"""

import os
import warnings
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from longmatch.errors import LongmatchWarning
from longmatch.lab.encoders.packed import flash_attention, plain_attention, short_attention, tiled_attention
from longmatch.lab.encoders.packed.plain_attention import Saved

MAX_ERROR = 0.03  # of a kernel, relative to the largest value: bfloat16 has 8 bits
HALF = (torch.bfloat16, torch.float16)
TEST_LENGTHS = {
    flash_attention: ((1, 200, 64, 129, 7),),
    tiled_attention: ((1, 200, 64, 129, 7), (300, 65)),
    short_attention: ((1, 64, 5, 33), (32, 1, 17), (9, 16, 1)),
}


def attend(qkv: Tensor, offsets: Tensor, longest: int, dropout: float = 0.0) -> Tensor:
    """Self-attention within each sequence: (tokens, 3, heads, size) -> (tokens, heads, size).

    `offsets` (sequences + 1,) are int32, on the device; `longest` is the number of tokens of the longest sequence.
    """
    out: Tensor = _Attend.apply(qkv, offsets, longest, dropout)
    return out


class _Attend(torch.autograd.Function):
    """Forward and backward by the same backend."""

    @staticmethod
    def forward(ctx: Any, qkv: Tensor, offsets: Tensor, longest: int, dropout: float) -> Tensor:
        ctx.settings, ctx.backend = (longest, dropout), backend_for(qkv, longest)
        saved: Saved = ctx.backend.forward(qkv, offsets, longest, dropout)
        ctx.save_for_backward(qkv, *saved, offsets)
        return saved[0]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        qkv, *saved, offsets = ctx.saved_tensors
        return ctx.backend.backward(grad.contiguous(), qkv, saved, offsets, *ctx.settings), None, None, None


def backend_for(qkv: Tensor, longest: int) -> ModuleType:
    """The fastest backend for such sequences."""
    size = qkv.shape[3]
    if qkv.device.type != "cuda" or qkv.dtype not in HALF:
        return plain_attention
    for backend in (short_attention, tiled_attention) if kernels_enabled() else ():
        if longest <= backend.MAX_TOKENS and size in backend.HEAD_SIZES and _works(backend, qkv.dtype, size):
            return backend
    is_flash = size % 8 == 0 and size <= flash_attention.MAX_HEAD_SIZE and _works(flash_attention, qkv.dtype, size)
    return flash_attention if is_flash else plain_attention


@cache
def _works(backend: ModuleType, dtype: torch.dtype, size: int) -> bool:
    cases = [(lengths, dtype, size, torch.device("cuda")) for lengths in TEST_LENGTHS[backend]]
    name = backend.__name__.rpartition(".")[2].replace("_", " ")
    return works(name, lambda: max(attention_error(backend, *case) for case in cases))


@torch.no_grad()
def attention_error(
    backend: ModuleType, lengths: tuple[int, ...], dtype: torch.dtype, size: int, device: torch.device
) -> float:
    """Error of a backend against plain_attention in float32, forward and backward, relative to the largest value."""
    generator = torch.Generator().manual_seed(0)
    random = torch.randn(sum(lengths), 4, 4, size, generator=generator).to(device, dtype)
    qkv, grad = random[:, :3].contiguous(), random[:, 3].contiguous()
    offsets = torch.tensor([0, *lengths]).cumsum(0).to(device, torch.int32)
    results = []
    for module, precision in ((backend, dtype), (plain_attention, torch.float32)):
        inputs = qkv.to(precision)
        saved = module.forward(inputs, offsets, max(lengths), 0.0)
        results.append((saved[0], module.backward(grad.to(precision), inputs, saved, offsets, max(lengths), 0.0)))
    return max(largest_error(*pair) for pair in zip(*results, strict=True))


def kernels_enabled() -> bool:
    """Whether our own kernels may be used at all."""
    return os.environ.get("LONGMATCH_KERNELS") != "0"


def works(name: str, error: Callable[[], float]) -> bool:
    """Whether a kernel runs and its `error` is small; otherwise warn that it is not used, and why."""
    try:
        size = error()
        reason = "" if size <= MAX_ERROR else f"it is off by {size:.3f}"
    except Exception as problem:  # whatever it is, there is a fallback
        reason = f"{type(problem).__name__}: {problem}".splitlines()[0]
    if reason:
        warnings.warn(f"The {name} kernel is not used ({reason}).", LongmatchWarning, stacklevel=3)
    return not reason


def largest_error(actual: Tensor, expected: Tensor) -> float:
    """Largest absolute error, relative to the largest expected value."""
    return float((actual.float() - expected).abs().max() / expected.abs().max())
