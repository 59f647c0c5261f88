"""Segment reductions. Many short lists are stored as one flat array plus the offset at which each list begins.

Rows are the long axis (the units of a whole collection) and columns the short one (the units of one document), so that
every reduction scans memory in order.
"""

import torch
from torch import Tensor


def offsets_of(lengths: Tensor) -> Tensor:
    """The start of each segment, and the end of the last.

    >>> offsets_of(torch.tensor([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    return torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])


def segment_ids(offsets: Tensor, rows: int | None = None) -> Tensor:
    """The segment of each row. Passing the number of `rows` avoids a GPU synchronisation.

    >>> segment_ids(torch.tensor([0, 2, 2, 5])).tolist()
    [0, 0, 2, 2, 2]
    """
    segments = torch.arange(len(offsets) - 1, device=offsets.device)
    return torch.repeat_interleave(segments, offsets.diff(), output_size=rows)


def segment_max(values: Tensor, offsets: Tensor) -> Tensor:
    """Maximum of each segment: (units, columns) -> (groups, columns). Empty groups give -inf.

    >>> segment_max(torch.tensor([[1.0], [3.0], [2.0]]), torch.tensor([0, 2, 3])).tolist()
    [[3.0], [2.0]]
    """
    if values.device.type == "cuda":  # one thread per segment, so no write conflicts
        return torch.segment_reduce(values, "max", offsets=offsets, axis=0, unsafe=True, initial=float("-inf"))
    out = values.new_full((len(offsets) - 1, values.shape[1]), float("-inf"))
    return out.scatter_reduce_(0, _row_index(values, offsets), values, "amax")


def segment_sum(values: Tensor, offsets: Tensor) -> Tensor:
    """Sum of each segment: (units, columns) -> (groups, columns). Empty groups give 0."""
    out = values.new_zeros((len(offsets) - 1, values.shape[1]))
    return out.scatter_add_(0, _row_index(values, offsets), values)


def segment_mean(values: Tensor, offsets: Tensor) -> Tensor:
    """Mean of each segment: (units, columns) -> (groups, columns). Empty groups give 0."""
    lengths = offsets.diff().clamp(min=1)
    return segment_sum(values, offsets) / lengths[:, None].to(values.dtype)


def _row_index(values: Tensor, offsets: Tensor) -> Tensor:
    return segment_ids(offsets, len(values))[:, None].expand(-1, values.shape[1])
