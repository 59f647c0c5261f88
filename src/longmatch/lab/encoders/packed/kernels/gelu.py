"""GELU, forward and backward. Arrays are (rows, width), contiguous; `sums` is (programs, width).

The normal distribution function is approximated as in Abramowitz and Stegun, 7.1.26 (error at most 1.5e-7): few
operations, one of which, the density, the backward pass needs as well.
"""

# mypy: ignore-errors
# ruff: noqa: ANN001, ANN201, ANN202
import triton
import triton.language as tl


@triton.jit
def _normal_cdf(x):
    """The normal distribution function of x, and e^(-x^2/2)."""
    bell = tl.exp2(x * x * -0.7213475204444817)  # log2(e) / 2
    t = 1.0 / (1.0 + 0.2316418882 * tl.abs(x))  # 0.3275911 / sqrt(2)
    sums = 0.127414796 + t * (-0.142248368 + t * (0.7107068705 + t * (-0.7265760135 + t * 0.5307027145)))
    tail = sums * t * bell
    return tl.where(x < 0, tail, 1.0 - tail), bell


@triton.jit
def gelu_forward(source, out, count, TILE: tl.constexpr):
    """One tile of the flattened array."""
    at = tl.program_id(0).to(tl.int64) * TILE + tl.arange(0, TILE)
    x = tl.load(source + at, mask=at < count, other=0.0).to(tl.float32)
    cdf, _ = _normal_cdf(x)
    tl.store(out + at, (x * cdf).to(out.dtype.element_ty), mask=at < count)


@triton.jit
def gelu_backward(grad, source, target, sums, rows, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """Some columns of every num_programs-th tile of rows, and the sums of these columns."""
    column = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    for first in range(tl.program_id(0) * ROWS, rows, tl.num_programs(0) * ROWS):
        row = first + tl.arange(0, ROWS)
        at = row.to(tl.int64)[:, None] * width + column[None, :]
        valid = (row < rows)[:, None] & (column < width)[None, :]
        x = tl.load(source + at, mask=valid, other=0.0).to(tl.float32)
        grad_out = tl.load(grad + at, mask=valid, other=0.0).to(tl.float32)
        cdf, bell = _normal_cdf(x)
        grad_x = grad_out * (cdf + x * bell * 0.3989422804014327)  # 1 / sqrt(2 pi)
        tl.store(target + at, grad_x.to(target.dtype.element_ty), mask=valid)
        total += grad_x
    tl.store(sums + tl.program_id(0) * width + column, tl.sum(total, 0), mask=column < width)
