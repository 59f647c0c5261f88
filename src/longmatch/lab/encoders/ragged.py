"""torch's segment reductions: importing this lets `longmatch.ragged` take tensors, on any device and with gradients."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from longmatch.ragged import Array, Floats, array_namespace, as_numbers
from longmatch.ragged import segment_max as maximum_of_segments
from longmatch.ragged import segment_sum as sum_of_segments


class TorchNamespace:
    """The functions of the array API standard that our formulas use, where torch's differ from it or lack a name."""

    float32, int64, asarray = torch.float32, torch.int64, torch.as_tensor
    arange, concat, full, log2 = torch.arange, torch.concat, torch.full, torch.log2
    stack, where, zeros, linalg = torch.stack, torch.where, torch.zeros, torch.linalg
    argmax, max, mean, repeat = torch.argmax, torch.amax, torch.mean, torch.repeat_interleave

    @staticmethod
    def astype(values: Tensor, dtype: torch.dtype, copy: bool = True) -> Tensor:
        """The same values of another type."""
        return values.to(dtype)

    @staticmethod
    def cumulative_sum(values: Tensor) -> Tensor:
        """Running sums."""
        return values.cumsum(0)

    @staticmethod
    def sort(values: Tensor, axis: int) -> Tensor:
        """In rising order along an axis."""
        return values.sort(axis).values

    @staticmethod
    def std(values: Tensor, axis: int) -> Tensor:
        """The standard deviation along an axis."""
        return values.std(axis, correction=0)


def as_array(values: Tensor) -> Array:
    """A tensor for a function of the product that is written for any library's arrays."""
    return cast(Array, values)


@array_namespace.register
def _(array: Tensor) -> Any:
    return TorchNamespace


@as_numbers.register
def _(values: Tensor) -> Floats:
    return np.asarray(values.double().cpu().numpy())


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
    """Maximum of each segment: (units, columns) -> (groups, columns). Empty groups give -inf."""
    if values.device.type == "cuda":  # one thread per segment, so no write conflicts
        return torch.segment_reduce(values, "max", offsets=offsets, axis=0, unsafe=True, initial=float("-inf"))
    out = values.new_full((len(offsets) - 1, values.shape[1]), float("-inf"))
    return out.scatter_reduce_(0, _row_index(values, offsets), values, "amax")


def segment_sum(values: Tensor, offsets: Tensor) -> Tensor:
    """Sum of each segment: (units, columns) -> (groups, columns). Empty groups give 0."""
    out = values.new_zeros((len(offsets) - 1, values.shape[1]))
    return out.scatter_add_(0, _row_index(values, offsets), values)


maximum_of_segments.register(Tensor, lambda values, offsets: as_array(segment_max(values, offsets)))
sum_of_segments.register(Tensor, lambda values, offsets: as_array(segment_sum(values, offsets)))


def segment_mean(values: Tensor, offsets: Tensor) -> Tensor:
    """Mean of each segment: (units, columns) -> (groups, columns). Empty groups give 0."""
    lengths = offsets.diff().clamp(min=1)
    return segment_sum(values, offsets) / lengths[:, None].to(values.dtype)


def segment_softmax(scores: Tensor, offsets: Tensor) -> Tensor:
    """The softmax of each column over the rows of each segment: (units, columns) -> (units, columns).

    >>> segment_softmax(torch.tensor([[0.0], [0.0], [5.0]]), torch.tensor([0, 2, 3])).squeeze().tolist()
    [0.5, 0.5, 1.0]
    """
    segment = segment_ids(offsets, len(scores))
    exponentials = (scores - segment_max(scores.detach(), offsets)[segment]).exp()
    return exponentials / segment_sum(exponentials, offsets)[segment]


def weighted_segment_mean(values: Tensor, weights: Tensor, offsets: Tensor) -> Tensor:
    """Weighted mean of each segment, none of them empty: (units, columns) -> (groups, columns).

    `weights` (units,) and `offsets` may be on the CPU.

    >>> weighted_segment_mean(torch.tensor([[1.0], [4.0], [5.0]]), torch.tensor([2, 1, 3]), torch.tensor([0, 2, 3]))
    tensor([[2.],
            [5.]])
    """
    weights, offsets = (to_device(each, values.device) for each in (weights.to(values.dtype)[:, None], offsets))
    return segment_sum(values * weights, offsets) / segment_sum(weights, offsets)


def _row_index(values: Tensor, offsets: Tensor) -> Tensor:
    return segment_ids(offsets, len(values))[:, None].expand(-1, values.shape[1])


def to_device(tensor: Tensor, device: torch.device) -> Tensor:
    """Copy a tensor to a device; unlike plain `to`, it does not wait for the GPU to finish its queue."""
    if device.type != "cuda" or tensor.device.type != "cpu":
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)


def fetch_async(tensor: Tensor) -> Callable[[], Tensor]:
    """Start copying a tensor to the CPU; returns a function that waits for the copy and returns it."""
    if tensor.device.type != "cuda":
        return lambda: tensor
    copied = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True).copy_(tensor, non_blocking=True)
    done = torch.cuda.Event()
    done.record(torch.cuda.current_stream(tensor.device))

    def wait() -> Tensor:
        done.synchronize()
        return copied

    return wait


@dataclass(frozen=True)
class PackedOrder:
    """The order in which a recurrent network reads runs of rows without padding; that of torch's `pack_sequence`.

    One index_select picks all rows, where a loop over runs would make a GPU wait for the CPU. All tensors are there.
    """

    index: Tensor  # (rows,) the rows in the order in which they are read
    sizes: Tensor  # (steps,) rows read at each step
    runs: Tensor  # (runs,) the runs, longest first

    @staticmethod
    def of(offsets: Tensor) -> "PackedOrder":
        """The order for runs that begin at these rows, and the end."""
        lengths, runs = offsets.diff().sort(descending=True, stable=True)
        steps = torch.arange(int(lengths[0]))[:, None]
        exists = steps < lengths  # (steps, runs)
        return PackedOrder((offsets[:-1][runs] + steps)[exists], exists.sum(1), runs)

    def pack(self, rows: Tensor) -> PackedSequence:
        """The rows as torch's recurrent networks take them."""
        runs, inverse = to_device(self.runs, rows.device), to_device(self.runs.argsort(), rows.device)
        return PackedSequence(rows.index_select(0, to_device(self.index, rows.device)), self.sizes, runs, inverse)

    def unpack(self, packed: PackedSequence) -> Tensor:
        """A recurrent network's outputs in the order of the rows."""
        return packed.data.index_select(0, to_device(self.index.argsort(), packed.data.device))
