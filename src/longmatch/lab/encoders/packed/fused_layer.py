"""One BERT layer with a hand-written backward pass, on a GPU in 16 bits, that saves memory traffic.

Autograd over `bert.bert_layer` gives the same numbers. Here dropout, residual and norm are one kernel; the backward
kernels of GELU and norm also sum the gradients of biases; and products are accumulated into the residual's gradient.
The kernels of GELU and norm read and write each number once.
"""

from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import linear

from longmatch.lab.encoders.packed.attention import backend_for

Drop = tuple[float, float]  # dropout rates of states and of attention

TILE = 4096  # numbers per program
COLUMNS = 256  # of a tile, where columns are summed
PROGRAMS = 8  # per multiprocessor of the GPU, where columns are summed


class FusedLayer(torch.autograd.Function):
    """(tokens, width) -> (tokens, width); same arguments and results as `bert.bert_layer`."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        offsets: Tensor,
        longest: int,
        heads: int,
        epsilon: float,
        drop: Drop,
        *weights: Tensor,
    ) -> Tensor:
        """Compute the layer and save what the backward pass needs, including the weights in 16 bits."""
        wq, bq, wk, bk, wv, bv, wo, bo, wu, bu, wd, bd, *norms = weights
        width = x.shape[1]
        seeds = torch.randint(-(2**31), 2**31, (2,), dtype=torch.int32, device=x.device) if drop[0] else offsets[:2]
        stacks = ((wq, wk, wv), (bq, bk, bv))
        w_qkv, b_qkv = (torch.cat([part.to(x.dtype) for part in parts]) for parts in stacks)
        wo, bo, wu, bu, wd, bd = (weight.to(x.dtype) for weight in (wo, bo, wu, bu, wd, bd))
        qkv = linear(x, w_qkv, b_qkv).view(-1, 3, heads, width // heads)
        backend = backend_for(qkv, longest)
        attended, log_sums, attention_seeds = backend.forward(qkv, offsets, longest, drop[1])
        first = linear(attended.view(-1, width), wo, bo)
        middle, *first_rows = norm(first, x, norms[0], norms[1], epsilon, drop[0], seeds[:1])
        up = linear(middle, wu, bu)
        active = gelu(up)
        second = linear(active, wd, bd)
        out, *second_rows = norm(second, middle, norms[2], norms[3], epsilon, drop[0], seeds[1:])
        ctx.backend, ctx.settings, ctx.drop = backend, (longest, drop[1]), drop[0]
        ctx.save_for_backward(
            x, qkv, attended, log_sums, attention_seeds, offsets, first, *first_rows, middle, up, active, second,
            *second_rows, seeds, w_qkv, wo, wu, wd, norms[0], norms[2],
        )  # fmt: skip
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """`grad` is the gradient at the point the code has reached, `residual` that of the path around it."""
        (
            x, qkv, attended, log_sums, attention_seeds, offsets, first, first_mean, first_scale, middle, up, active,
            second, second_mean, second_scale, seeds, w_qkv, wo, wu, wd, n1, n2,
        ) = ctx.saved_tensors  # fmt: skip
        width = x.shape[1]
        grad, residual, (dn2, ds2, dbd) = norm_backward(
            grad.contiguous(), second, middle, n2, second_mean, second_scale, ctx.drop, seeds[1:]
        )
        dwd = grad.T @ active
        grad, dbu = gelu_backward(grad @ wd, up)
        dwu = grad.T @ middle
        grad = residual.addmm_(grad, wu)
        grad, residual, (dn1, ds1, dbo) = norm_backward(
            grad, first, x, n1, first_mean, first_scale, ctx.drop, seeds[:1]
        )
        dwo = grad.T @ attended.view(-1, width)
        grad = (grad @ wo).view(attended.shape)
        saved = attended, log_sums, attention_seeds
        grad = ctx.backend.backward(grad, qkv, saved, offsets, *ctx.settings)
        grad = grad.reshape(-1, 3 * width)
        dw_qkv, db_qkv = (grad.T @ x).chunk(3), grad.sum(0, dtype=torch.float32).chunk(3)
        grad_x = residual.addmm_(grad, w_qkv)
        d_qkv = [each for pair in zip(dw_qkv, db_qkv, strict=True) for each in pair]
        return grad_x, *[None] * 5, *d_qkv, dwo, dbo, dwu, dbu, dwd, dbd, dn1, ds1, dn2, ds2


def norm(
    x: Tensor, residual: Tensor, weight: Tensor, bias: Tensor, epsilon: float, dropout: float, seed: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Layer norm of dropout(x) + residual, with the mean and the inverse standard deviation of each row."""
    from longmatch.lab.encoders.packed.kernels import norm as kernels

    (rows, width), tile_width, tile_rows = x.shape, *_tile(x.shape[1])
    out, means = torch.empty_like(x), x.new_empty(rows, dtype=torch.float32)
    scales = torch.empty_like(means)
    arguments = (x, residual, weight, bias, out, means, scales, seed, dropout, epsilon, rows, width)
    kernels.norm_forward[(-(-rows // tile_rows),)](*arguments, tile_rows, tile_width, dropout > 0, num_warps=4)
    return out, means, scales


def norm_backward(
    grad: Tensor,
    x: Tensor,
    residual: Tensor,
    weight: Tensor,
    means: Tensor,
    scales: Tensor,
    dropout: float,
    seed: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of `x`, of `residual`, and (3, width) of weight, bias and of a bias added to `x`."""
    from longmatch.lab.encoders.packed.kernels import norm as kernels

    (rows, width), tile_width, tile_rows = x.shape, *_tile(x.shape[1])
    grad_residual = torch.empty_like(x)
    grad_x = torch.empty_like(x) if dropout else grad_residual
    count = min(_programs(x.device), -(-rows // tile_rows))
    sums = x.new_empty((count, 3, width), dtype=torch.float32)
    arguments = (grad, x, residual, weight, means, scales, seed, dropout, grad_x, grad_residual, sums, rows, width)
    kernels.norm_backward[(count,)](*arguments, tile_rows, tile_width, dropout > 0, num_warps=4)
    return grad_x, grad_residual, sums.sum(0)


def gelu(x: Tensor) -> Tensor:
    """x times the normal distribution function of x."""
    from longmatch.lab.encoders.packed.kernels import gelu as kernels

    out = torch.empty_like(x)
    kernels.gelu_forward[(-(-x.numel() // (2 * TILE)),)](x, out, x.numel(), 2 * TILE, num_warps=8)
    return out


def gelu_backward(grad: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """The gradient of x, written over `grad`, and its sum over all rows."""
    from longmatch.lab.encoders.packed.kernels import gelu as kernels

    rows, width = x.shape
    across, tile_rows = -(-width // COLUMNS), TILE // COLUMNS
    count = min(-(-_programs(x.device) // across), -(-rows // tile_rows))
    sums = x.new_empty((count, width), dtype=torch.float32)
    kernels.gelu_backward[(count, across)](grad, x, grad, sums, rows, width, tile_rows, COLUMNS, num_warps=8)
    return grad, sums.sum(0)


def _tile(width: int) -> tuple[int, int]:
    """Columns (a power of two) and rows of a tile.

    >>> _tile(384), _tile(256)
    ((512, 8), (256, 16))
    """
    columns = 1 << (width - 1).bit_length()
    return columns, max(1, TILE // columns)


@cache
def _programs(device: torch.device) -> int:
    processors = torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 1
    return PROGRAMS * processors
