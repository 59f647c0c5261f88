"""Learning low-rank changes to a network (LoRA, Hu et al., 2021), which itself stays frozen.

A change is the product of two narrow matrices, added to a matrix of the network, which then costs no more than before.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

DOWN, UP = ".down", ".up"
Weights = Mapping[str, npt.NDArray[Any]]


class LowRankLinear(nn.Module):
    """A frozen layer W x + b with a learnt low-rank update: (W + U D) x + b."""

    def __init__(self, plain: nn.Linear, rank: int) -> None:
        super().__init__()
        self.plain = plain.requires_grad_(False)
        self.down = nn.Parameter(torch.empty(rank, plain.in_features))
        self.up = nn.Parameter(torch.zeros(plain.out_features, rank))  # so that the update starts at zero
        nn.init.kaiming_uniform_(self.down, a=5**0.5)

    @property
    def weight(self) -> Tensor:
        """The updated matrix, for code that computes the layer itself."""
        return self.plain.weight + self.up @ self.down

    @property
    def bias(self) -> Tensor | None:
        """The frozen layer's."""
        return self.plain.bias

    def forward(self, x: Tensor) -> Tensor:
        """The updated layer."""
        update = nn.functional.linear(nn.functional.linear(x, self.down.to(x.dtype)), self.up.to(x.dtype))
        return torch.add(self.plain(x), update)


def add_low_rank_layers(model: nn.Module, rank: int) -> list[nn.Parameter]:
    """Freeze a network, add a trainable update of the given rank to each linear layer, and return what is trainable."""
    model.requires_grad_(False)
    for parent in list(model.modules()):
        for name, layer in parent.named_children():
            if isinstance(layer, nn.Linear):
                setattr(parent, name, LowRankLinear(layer, min(rank, layer.in_features, layer.out_features)))
    return [p for p in model.parameters() if p.requires_grad]


def low_rank_change(model: nn.Module) -> dict[str, npt.NDArray[Any]]:
    """The learnt change in half precision, keyed by the plain network's names of its matrices."""
    change = {}
    for name, module in model.named_modules():
        if isinstance(module, LowRankLinear):
            change[name + DOWN] = module.down.detach().half().cpu().numpy()
            change[name + UP] = module.up.detach().half().cpu().numpy()
    return change


@torch.no_grad()
def apply_change(model: nn.Module, change: Weights) -> None:
    """Add a change to a plain network's matrices, in place."""
    layers = dict(model.named_modules())
    for name in sorted({key.rpartition(".")[0] for key in change}):
        product = change[name + UP].astype(np.float32) @ change[name + DOWN].astype(np.float32)
        layer = layers.get(name)
        if not isinstance(layer, nn.Linear) or layer.weight.shape != product.shape:
            raise ValueError(f"the network has no layer {name} that this change fits")
        layer.weight += torch.from_numpy(product).to(layer.weight.device, layer.weight.dtype)
