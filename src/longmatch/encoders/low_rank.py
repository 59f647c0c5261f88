"""Low-rank changes to a network: the product of two narrow matrices is added to each matrix (LoRA, Hu et al., 2021).

The network itself is frozen during training. Afterwards the products are added to its matrices once, so that the
changed network costs no more than the plain one.
"""

from collections.abc import Iterator, Mapping

import torch
from safetensors.torch import load, save
from torch import Tensor, nn

DOWN, UP = ".down", ".up"


class LowRankLinear(nn.Module):
    """A frozen layer W x + b with a learnt low-rank update: (W + U D) x + b."""

    def __init__(self, plain: nn.Linear, rank: int) -> None:
        super().__init__()
        self.plain = plain.requires_grad_(False)
        self.down = nn.Parameter(torch.empty(rank, plain.in_features))
        self.up = nn.Parameter(torch.zeros(plain.out_features, rank))  # so that the update starts at zero
        nn.init.kaiming_uniform_(self.down, a=5**0.5)

    def forward(self, x: Tensor) -> Tensor:
        """The updated layer."""
        update = nn.functional.linear(nn.functional.linear(x, self.down.to(x.dtype)), self.up.to(x.dtype))
        out: Tensor = self.plain(x) + update
        return out


def add_low_rank_layers(model: nn.Module, rank: int, upper: float = 1.0) -> list[nn.Parameter]:
    """Freeze a network and add a trainable update of the given rank to each linear layer.

    `upper` is the share of layers, counted from the top, that get one. Returns the trainable parameters.
    """
    model.requires_grad_(False)
    layers = list(_linear_layers(model))
    for parent, name, layer in layers[round((1 - upper) * len(layers)) :]:
        setattr(parent, name, LowRankLinear(layer, min(rank, layer.in_features, layer.out_features)))
    return [p for p in model.parameters() if p.requires_grad]


def low_rank_change(model: nn.Module) -> dict[str, Tensor]:
    """The learnt change in half precision, keyed by the plain network's names of its matrices."""
    change = {}
    for name, module in model.named_modules():
        if isinstance(module, LowRankLinear):
            change[name + DOWN] = module.down.detach().half().cpu().contiguous()
            change[name + UP] = module.up.detach().half().cpu().contiguous()
    return change


def change_to_bytes(change: Mapping[str, Tensor]) -> bytes:
    """Serialise a change as safetensors."""
    return save(dict(change))


def change_from_bytes(content: bytes) -> dict[str, Tensor]:
    """Inverse of `change_to_bytes`."""
    return load(content)


def combine_changes(first: Mapping[str, Tensor], second: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """One change equal to applying both: the products are summed, so the ranks add up."""
    combined = dict(first) | dict(second)
    for key in first.keys() & second.keys():
        combined[key] = torch.cat([first[key], second[key]], dim=0 if key.endswith(DOWN) else 1).contiguous()
    return combined


@torch.no_grad()
def apply_change(model: nn.Module, change: Mapping[str, Tensor]) -> None:
    """Add a change to a plain network's matrices, in place."""
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
