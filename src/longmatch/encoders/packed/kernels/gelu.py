"""GELU, forth and back. Both arrays are (rows, width), contiguous; `sums` is (programs, width).

The normal distribution is worked out as in Abramowitz and Stegun, 7.1.26, off by 1.5e-7 at most: in few operations, one
of which, the density, the way back needs as well.
"""

# mypy: ignore-errors
# ruff: noqa: ANN001, ANN201, ANN202
import triton
import triton.language as tl


@triton.jit
def _normal(x):
    """How much of the normal distribution lies below x, and e^(-x^2/2)."""
    falls = tl.exp2(x * x * -0.7213475204444817)  # log2(e) / 2
    step = 1.0 / (1.0 + 0.2316418882 * tl.abs(x))  # 0.3275911 / sqrt(2)
    sums = 0.127414796 + step * (-0.142248368 + step * (0.7107068705 + step * (-0.7265760135 + step * 0.5307027145)))
    beyond = sums * step * falls
    return tl.where(x < 0, beyond, 1.0 - beyond), falls


@triton.jit
def gelu_forward(given, out, count, TILE: tl.constexpr):
    """A tile of all numbers."""
    at = tl.program_id(0).to(tl.int64) * TILE + tl.arange(0, TILE)
    x = tl.load(given + at, mask=at < count, other=0.0).to(tl.float32)
    below, _ = _normal(x)
    tl.store(out + at, (x * below).to(out.dtype.element_ty), mask=at < count)


@triton.jit
def gelu_backward(grad, given, found, sums, rows, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """Some columns of every so many-th tile of rows, and the sums down these columns."""
    column = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    for first in range(tl.program_id(0) * ROWS, rows, tl.num_programs(0) * ROWS):
        row = first + tl.arange(0, ROWS)
        at = row.to(tl.int64)[:, None] * width + column[None, :]
        there = (row < rows)[:, None] & (column < width)[None, :]
        x = tl.load(given + at, mask=there, other=0.0).to(tl.float32)
        above = tl.load(grad + at, mask=there, other=0.0).to(tl.float32)
        below, falls = _normal(x)
        each = above * (below + x * falls * 0.3989422804014327)  # 1 / sqrt(2 pi)
        tl.store(found + at, each.to(found.dtype.element_ty), mask=there)
        total += each
    tl.store(sums + tl.program_id(0) * width + column, tl.sum(total, 0), mask=column < width)
