"""One layer of BERT forth and back, written out, on a GPU in 16 bits: what each kernel need not read twice it does not.

Autograd over `layers.read_layer` gives the same numbers. Here dropout, the sum with what goes around and the norm are
one kernel; the way back of GELU and of the norms also adds up what the biases need; and a gradient that goes around a
product is where that product is added.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import linear

from longmatch.encoders.packed.attention import way_for
from longmatch.encoders.packed.rowwise import gelu, gelu_back, norm, norm_back

Drop = tuple[float, float]  # the shares dropped of states and of attention


class FusedLayer(torch.autograd.Function):
    """(tokens, width) -> (tokens, width), as `layers.read_layer`, whose arguments it takes."""

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
        """What the way back needs is kept, the products' weights in 16 bits among it."""
        wq, bq, wk, bk, wv, bv, wo, bo, wu, bu, wd, bd, *norms = weights
        width = x.shape[1]
        seeds = torch.randint(-(2**31), 2**31, (2,), dtype=torch.int32, device=x.device) if drop[0] else offsets[:2]
        w_qkv, b_qkv = _joined((wq, wk, wv), x), _joined((bq, bk, bv), x)
        wo, bo, wu, bu, wd, bd = (weight.to(x.dtype) for weight in (wo, bo, wu, bu, wd, bd))
        qkv = linear(x, w_qkv, b_qkv).view(-1, 3, heads, width // heads)
        way = way_for(qkv, longest)
        taken, sums, drawn = way.forward(qkv, offsets, longest, drop[1])
        first = linear(taken.view(-1, width), wo, bo)
        middle, *first_rows = norm(first, x, norms[0], norms[1], epsilon, drop[0], seeds[:1])
        up = linear(middle, wu, bu)
        active = gelu(up)
        second = linear(active, wd, bd)
        found, *second_rows = norm(second, middle, norms[2], norms[3], epsilon, drop[0], seeds[1:])
        ctx.way, ctx.facts, ctx.drop = way, (longest, drop[1]), drop[0]
        ctx.save_for_backward(
            x, qkv, taken, sums, drawn, offsets, first, *first_rows, middle, up, active, second, *second_rows,
            seeds, w_qkv, wo, wu, wd, norms[0], norms[2],
        )  # fmt: skip
        return found

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """`grad` is what comes back to the place that the code has reached, `around` what goes around it."""
        (
            x, qkv, taken, sums, drawn, offsets, first, first_mean, first_scale, middle, up, active, second,
            second_mean, second_scale, seeds, w_qkv, wo, wu, wd, n1, n2,
        ) = ctx.saved_tensors  # fmt: skip
        width = x.shape[1]
        grad, around, (dn2, ds2, dbd) = norm_back(
            grad.contiguous(), second, middle, n2, second_mean, second_scale, ctx.drop, seeds[1:]
        )
        dwd = grad.T @ active
        grad, dbu = gelu_back(grad @ wd, up)
        dwu = grad.T @ middle
        grad = around.addmm_(grad, wu)
        grad, around, (dn1, ds1, dbo) = norm_back(grad, first, x, n1, first_mean, first_scale, ctx.drop, seeds[:1])
        dwo = grad.T @ taken.view(-1, width)
        grad = (grad @ wo).view(taken.shape)
        grad = ctx.way.backward(grad, qkv, taken, sums, drawn, offsets, *ctx.facts).reshape(-1, 3 * width)
        dw_qkv, db_qkv = (grad.T @ x).chunk(3), grad.sum(0, dtype=torch.float32).chunk(3)
        for_x = around.addmm_(grad, w_qkv)
        d_qkv = [each for pair in zip(dw_qkv, db_qkv, strict=True) for each in pair]
        return for_x, *[None] * 5, *d_qkv, dwo, dbo, dwu, dbu, dwd, dbd, dn1, ds1, dn2, ds2


def _joined(parts: Sequence[Tensor], like: Tensor) -> Tensor:
    """One under the other, in the precision of `like`."""
    return torch.cat([part.to(like.dtype) for part in parts])
