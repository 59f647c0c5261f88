"""Dropout, residual and layer norm of each row, forward and backward.

Arrays are (rows, width), contiguous, except `means` and `scales`, (rows,), and `sums`, (programs, 3, width).
"""

# mypy: ignore-errors
# ruff: noqa: ANN001, ANN201, ANN202
import triton
import triton.language as tl

from longmatch.lab.encoders.packed.kernels.dropout import hashed, keep_mask


@triton.jit
def _keep(row, column, seeds, dropout):
    seed = tl.load(seeds)
    return keep_mask(hashed(row, seed), hashed(column, seed ^ 0x5BD1E995), dropout)


@triton.jit
def norm_forward(
    x, residual, weight, bias, out, means, scales, seeds, dropout, epsilon, rows, width,
    ROWS: tl.constexpr, WIDTH: tl.constexpr, HAS_DROPOUT: tl.constexpr,
):  # fmt: skip
    """One tile of rows."""
    row, column = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, WIDTH)
    at = row.to(tl.int64)[:, None] * width + column[None, :]
    valid = (row < rows)[:, None] & (column < width)[None, :]
    sums = tl.load(x + at, mask=valid, other=0.0).to(tl.float32)
    if HAS_DROPOUT:
        sums = tl.where(_keep(row, column, seeds, dropout), sums * (1.0 / (1.0 - dropout)), 0.0)
    sums += tl.load(residual + at, mask=valid, other=0.0).to(tl.float32)
    mean = tl.sum(sums, 1) / width
    centred = tl.where(valid, sums - mean[:, None], 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(centred * centred, 1) / width + epsilon)
    scaling = tl.load(weight + column, mask=column < width, other=0.0).to(tl.float32)
    offset = tl.load(bias + column, mask=column < width, other=0.0).to(tl.float32)
    normed = centred * scale[:, None] * scaling[None, :] + offset[None, :]
    tl.store(out + at, normed.to(out.dtype.element_ty), mask=valid)
    tl.store(means + row, mean, mask=row < rows)
    tl.store(scales + row, scale, mask=row < rows)


@triton.jit
def norm_backward(
    grad, x, residual, weight, means, scales, seeds, dropout, grad_x, grad_residual, sums, rows, width,
    ROWS: tl.constexpr, WIDTH: tl.constexpr, HAS_DROPOUT: tl.constexpr,
):  # fmt: skip
    """Every num_programs-th tile of rows; column sums are gradients of weight, bias and of a bias added to `x`."""
    column = tl.arange(0, WIDTH)
    scaling = tl.load(weight + column, mask=column < width, other=0.0).to(tl.float32)
    grad_weight = tl.zeros((ROWS, WIDTH), tl.float32)
    grad_bias = tl.zeros((ROWS, WIDTH), tl.float32)
    grad_x_bias = tl.zeros((ROWS, WIDTH), tl.float32)
    for first in range(tl.program_id(0) * ROWS, rows, tl.num_programs(0) * ROWS):
        row = first + tl.arange(0, ROWS)
        at = row.to(tl.int64)[:, None] * width + column[None, :]
        valid = (row < rows)[:, None] & (column < width)[None, :]
        grad_out = tl.load(grad + at, mask=valid, other=0.0).to(tl.float32)
        summed = tl.load(x + at, mask=valid, other=0.0).to(tl.float32)
        if HAS_DROPOUT:
            keep = _keep(row, column, seeds, dropout)
            summed = tl.where(keep, summed * (1.0 / (1.0 - dropout)), 0.0)
        summed += tl.load(residual + at, mask=valid, other=0.0).to(tl.float32)
        mean = tl.load(means + row, mask=row < rows, other=0.0)
        scale = tl.load(scales + row, mask=row < rows, other=0.0)
        normed_x = tl.where(valid, (summed - mean[:, None]) * scale[:, None], 0.0)
        grad_weight += grad_out * normed_x
        grad_bias += grad_out
        grad_out *= scaling[None, :]
        projection = tl.sum(grad_out * normed_x, 1) / width
        grad_sum = (grad_out - (tl.sum(grad_out, 1) / width)[:, None] - normed_x * projection[:, None]) * scale[:, None]
        tl.store(grad_residual + at, grad_sum.to(grad_residual.dtype.element_ty), mask=valid)
        grad_sum = tl.where(valid, grad_sum, 0.0)
        if HAS_DROPOUT:
            grad_sum = tl.where(keep, grad_sum * (1.0 / (1.0 - dropout)), 0.0)
            tl.store(grad_x + at, grad_sum.to(grad_x.dtype.element_ty), mask=valid)
        grad_x_bias += grad_sum
    target = sums + tl.program_id(0) * 3 * width + column
    tl.store(target, tl.sum(grad_weight, 0), mask=column < width)
    tl.store(target + width, tl.sum(grad_bias, 0), mask=column < width)
    tl.store(target + 2 * width, tl.sum(grad_x_bias, 0), mask=column < width)
