"""What is not a product, by kernels that read and write each number once: GELU, and dropout with a sum and a norm."""

from functools import cache

import torch
from torch import Tensor

TILE = 4096  # numbers that a program holds
COLUMNS = 256  # of them side by side, where each column is added up
PROGRAMS = 8  # for each of a GPU's processors, where columns are added up


def norm(
    made: Tensor, around: Tensor, weight: Tensor, shift: Tensor, epsilon: float, share: float, seed: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The norm of dropout(made) + around, row by row; with each row's mean, and what it was divided by, inverted."""
    from longmatch.encoders.packed.kernels.norm import norm_forward

    (rows, width), across, down = made.shape, *_tile(made.shape[1])
    out, means = torch.empty_like(made), made.new_empty(rows, dtype=torch.float32)
    scales = torch.empty_like(means)
    given = (made, around, weight, shift, out, means, scales, seed, share, epsilon, rows, width)
    norm_forward[(-(-rows // down),)](*given, down, across, share > 0, num_warps=4)
    return out, means, scales


def norm_back(
    grad: Tensor,
    made: Tensor,
    around: Tensor,
    weight: Tensor,
    means: Tensor,
    scales: Tensor,
    share: float,
    seed: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients for `made`, for `around`, and for (3, width) weight, shift and a row added to all of `made`."""
    from longmatch.encoders.packed.kernels.norm import norm_backward

    (rows, width), across, down = made.shape, *_tile(made.shape[1])
    for_around = torch.empty_like(made)
    for_made = torch.empty_like(made) if share else for_around
    count = min(_programs(made.device), -(-rows // down))
    sums = made.new_empty((count, 3, width), dtype=torch.float32)
    given = (grad, made, around, weight, means, scales, seed, share, for_made, for_around, sums, rows, width)
    norm_backward[(count,)](*given, down, across, share > 0, num_warps=4)
    return for_made, for_around, sums.sum(0)


def gelu(given: Tensor) -> Tensor:
    """x times the share of the normal distribution below x."""
    from longmatch.encoders.packed.kernels.gelu import gelu_forward

    out = torch.empty_like(given)
    gelu_forward[(-(-given.numel() // (2 * TILE)),)](given, out, given.numel(), 2 * TILE, num_warps=8)
    return out


def gelu_back(grad: Tensor, given: Tensor) -> tuple[Tensor, Tensor]:
    """The gradient, in the place of `grad`, and its sum over all rows."""
    from longmatch.encoders.packed.kernels.gelu import gelu_backward

    rows, width = given.shape
    across, down = -(-width // COLUMNS), TILE // COLUMNS
    count = min(-(-_programs(given.device) // across), -(-rows // down))
    sums = given.new_empty((count, width), dtype=torch.float32)
    gelu_backward[(count, across)](grad, given, grad, sums, rows, width, down, COLUMNS, num_warps=8)
    return grad, sums.sum(0)


def _tile(width: int) -> tuple[int, int]:
    """Columns, a power of two, and rows.

    >>> _tile(384), _tile(256)
    ((512, 8), (256, 16))
    """
    across = 1 << (width - 1).bit_length()
    return across, max(1, TILE // across)


@cache
def _programs(device: torch.device) -> int:
    cores = torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 1
    return PROGRAMS * cores
