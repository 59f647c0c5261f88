"""Dropout drawn by a few operations a number: compiled code would spend more on torch's own than on a product."""

import torch
from torch import Tensor

STEPS = (-2048144789, -1028477387)  # the two factors of MurmurHash3's last step, as signed numbers


def dropped(x: Tensor, share: float, seed: Tensor) -> Tensor:
    """`x` (rows, columns) with a share of its numbers set to 0 and the others raised accordingly.

    Each number's fate follows from its place and the seed, an int32, alone. Uncompiled it is torch's own dropout, which
    is the faster there.
    """
    if not share:
        return x
    if not torch.compiler.is_compiling():
        return torch.nn.functional.dropout(x, share)
    return torch.where(hashed(x, seed) >= int(share * 2**31), x / (1 - share), 0)


def hashed(x: Tensor, seed: Tensor) -> Tensor:
    """A number from 0 to 2^31 for each of x, as if drawn: MurmurHash3's last step of its place and the seed."""
    found = torch.arange(x.numel(), dtype=torch.int32, device=x.device).view(x.shape) ^ seed
    for factor in STEPS:
        found = (found ^ ((found >> 16) & 0xFFFF)) * factor
    return (found ^ ((found >> 16) & 0xFFFF)) & 0x7FFFFFFF
