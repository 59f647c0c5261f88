"""Dropout, the sum with what went around, and the norm of each row, forth and back.

All arrays are (rows, width), contiguous, but `means` and `scales`, one number a row, and `sums`, (programs, 3, width).
"""

# mypy: ignore-errors
# ruff: noqa: ANN001, ANN201, ANN202
import triton
import triton.language as tl

from longmatch.encoders.packed.kernels.drawing import kept, mixed


@triton.jit
def _stays(row, column, seeds, share):
    seed = tl.load(seeds)
    return kept(mixed(row, seed), mixed(column, seed ^ 0x5BD1E995), share)


@triton.jit
def norm_forward(
    made, around, weight, shift, out, means, scales, seeds, share, epsilon, rows, width,
    ROWS: tl.constexpr, WIDTH: tl.constexpr, DROPS: tl.constexpr,
):  # fmt: skip
    """A tile of rows."""
    row, column = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, WIDTH)
    at = row.to(tl.int64)[:, None] * width + column[None, :]
    there = (row < rows)[:, None] & (column < width)[None, :]
    sums = tl.load(made + at, mask=there, other=0.0).to(tl.float32)
    if DROPS:
        sums = tl.where(_stays(row, column, seeds, share), sums * (1.0 / (1.0 - share)), 0.0)
    sums += tl.load(around + at, mask=there, other=0.0).to(tl.float32)
    mean = tl.sum(sums, 1) / width
    centred = tl.where(there, sums - mean[:, None], 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(centred * centred, 1) / width + epsilon)
    factor = tl.load(weight + column, mask=column < width, other=0.0).to(tl.float32)
    more = tl.load(shift + column, mask=column < width, other=0.0).to(tl.float32)
    found = centred * scale[:, None] * factor[None, :] + more[None, :]
    tl.store(out + at, found.to(out.dtype.element_ty), mask=there)
    tl.store(means + row, mean, mask=row < rows)
    tl.store(scales + row, scale, mask=row < rows)


@triton.jit
def norm_backward(
    grad, made, around, weight, means, scales, seeds, share, for_made, for_around, sums, rows, width,
    ROWS: tl.constexpr, WIDTH: tl.constexpr, DROPS: tl.constexpr,
):  # fmt: skip
    """Every so many-th tile of rows; the sums down the columns are for weight, shift and a bias added to `made`."""
    column = tl.arange(0, WIDTH)
    factor = tl.load(weight + column, mask=column < width, other=0.0).to(tl.float32)
    for_weight = tl.zeros((ROWS, WIDTH), tl.float32)
    for_shift = tl.zeros((ROWS, WIDTH), tl.float32)
    for_bias = tl.zeros((ROWS, WIDTH), tl.float32)
    for first in range(tl.program_id(0) * ROWS, rows, tl.num_programs(0) * ROWS):
        row = first + tl.arange(0, ROWS)
        at = row.to(tl.int64)[:, None] * width + column[None, :]
        there = (row < rows)[:, None] & (column < width)[None, :]
        above = tl.load(grad + at, mask=there, other=0.0).to(tl.float32)
        before = tl.load(made + at, mask=there, other=0.0).to(tl.float32)
        if DROPS:
            stays = _stays(row, column, seeds, share)
            before = tl.where(stays, before * (1.0 / (1.0 - share)), 0.0)
        before += tl.load(around + at, mask=there, other=0.0).to(tl.float32)
        mean = tl.load(means + row, mask=row < rows, other=0.0)
        scale = tl.load(scales + row, mask=row < rows, other=0.0)
        normal = tl.where(there, (before - mean[:, None]) * scale[:, None], 0.0)
        for_weight += above * normal
        for_shift += above
        above *= factor[None, :]
        along = tl.sum(above * normal, 1) / width
        found = (above - (tl.sum(above, 1) / width)[:, None] - normal * along[:, None]) * scale[:, None]
        tl.store(for_around + at, found.to(for_around.dtype.element_ty), mask=there)
        found = tl.where(there, found, 0.0)
        if DROPS:
            found = tl.where(stays, found * (1.0 / (1.0 - share)), 0.0)
            tl.store(for_made + at, found.to(for_made.dtype.element_ty), mask=there)
        for_bias += found
    target = sums + tl.program_id(0) * 3 * width + column
    tl.store(target, tl.sum(for_weight, 0), mask=column < width)
    tl.store(target + width, tl.sum(for_shift, 0), mask=column < width)
    tl.store(target + 2 * width, tl.sum(for_bias, 0), mask=column < width)
