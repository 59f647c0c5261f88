"""Copies between CPU and GPU that do not block either."""

from collections.abc import Callable

import torch
from torch import Tensor


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
