"""From the processor to a device and back, neither waiting for the other."""

from collections.abc import Callable

import torch
from torch import Tensor


def moved(numbers: Tensor, device: torch.device) -> Tensor:
    """On the device, without waiting until that has done all its work, as `to` alone would."""
    if device.type != "cuda" or numbers.device.type != "cpu":
        return numbers.to(device)
    return numbers.pin_memory().to(device, non_blocking=True)


def fetched(numbers: Tensor) -> Callable[[], Tensor]:
    """Begin to bring numbers to the CPU; what waits for them."""
    if numbers.device.type != "cuda":
        return lambda: numbers
    copied = torch.empty(numbers.shape, dtype=numbers.dtype, pin_memory=True).copy_(numbers, non_blocking=True)
    done = torch.cuda.Event()
    done.record(torch.cuda.current_stream(numbers.device))

    def wait() -> Tensor:
        done.synchronize()
        return copied

    return wait
