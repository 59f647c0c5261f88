"""A small change to a large network: to each matrix a product of two narrow ones is added (LoRA, Hu et al., 2021).

While it is learnt, the network itself stays as it is. Afterwards the products are added to the matrices once, so that
the changed network costs what the plain one does.
"""

from collections.abc import Iterator, Mapping

import torch
from safetensors.torch import load, save
from torch import Tensor, nn

DOWN, UP = ".down", ".up"


class LowRankLinear(nn.Module):
    """A layer W x + b and what is learnt beside it: (W + U D) x + b."""

    def __init__(self, plain: nn.Linear, rank: int) -> None:
        super().__init__()
        self.plain = plain.requires_grad_(False)
        self.down = nn.Parameter(torch.empty(rank, plain.in_features))
        self.up = nn.Parameter(torch.zeros(plain.out_features, rank))  # so that nothing changes at first
        nn.init.kaiming_uniform_(self.down, a=5**0.5)

    def forward(self, x: Tensor) -> Tensor:
        """As the plain layer, changed."""
        small = nn.functional.linear(nn.functional.linear(x, self.down.to(x.dtype)), self.up.to(x.dtype))
        changed: Tensor = self.plain(x) + small
        return changed


def make_changeable(model: nn.Module, rank: int, upper: float = 1.0) -> list[nn.Parameter]:
    """Freeze a network but for a change of that rank to each linear layer, or to the last share of them.

    Returned is what can be learnt.
    """
    model.requires_grad_(False)
    layers = list(_linear_layers(model))
    for parent, name, layer in layers[round((1 - upper) * len(layers)) :]:
        setattr(parent, name, LowRankLinear(layer, min(rank, layer.in_features, layer.out_features)))
    return [p for p in model.parameters() if p.requires_grad]


def change_of(model: nn.Module) -> dict[str, Tensor]:
    """What was learnt, by the names the plain network has for its matrices, in half precision."""
    found = {}
    for name, module in model.named_modules():
        if isinstance(module, LowRankLinear):
            found[name + DOWN] = module.down.detach().half().cpu().contiguous()
            found[name + UP] = module.up.detach().half().cpu().contiguous()
    return found


def change_to_bytes(change: Mapping[str, Tensor]) -> bytes:
    """A change as safetensors."""
    return save(dict(change))


def change_from_bytes(content: bytes) -> dict[str, Tensor]:
    """Read what `change_to_bytes` made."""
    return load(content)


def joined(first: Mapping[str, Tensor], second: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """One change that does what two do after each other: their products are summed, so their ranks add up."""
    found = dict(first) | dict(second)
    for key in first.keys() & second.keys():
        found[key] = torch.cat([first[key], second[key]], dim=0 if key.endswith(DOWN) else 1).contiguous()
    return found


@torch.no_grad()
def add_change(model: nn.Module, change: Mapping[str, Tensor]) -> None:
    """Add a change to a plain network's matrices, for good."""
    layers = dict(model.named_modules())
    for name in sorted({key.rpartition(".")[0] for key in change}):
        layer = layers.get(name)
        down, up = change[name + DOWN].float(), change[name + UP].float()
        if not isinstance(layer, nn.Linear) or layer.weight.shape != (len(up), down.shape[1]):
            raise ValueError(f"the network has no layer {name} that this change fits")
        layer.weight += (up @ down).to(layer.weight.device, layer.weight.dtype)


def _linear_layers(model: nn.Module) -> Iterator[tuple[nn.Module, str, nn.Linear]]:
    for module in model.modules():
        for name, child in module.named_children():
            if isinstance(child, nn.Linear):
                yield module, name, child
