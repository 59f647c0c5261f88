"""From the processor to a device."""

import torch
from torch import Tensor


def moved(numbers: Tensor, device: torch.device) -> Tensor:
    """On the device, without waiting until that has done all its work, as `to` alone would."""
    if device.type != "cuda" or numbers.device.type != "cpu":
        return numbers.to(device)
    return numbers.pin_memory().to(device, non_blocking=True)
