"""Linear layers in bfloat16 between sums, norms and residuals of float32: what `mixed` computes."""

import copy

import torch
from torch import Tensor, nn

TOKENS = 1_024  # a batch for which the processor's layout of the weights is chosen; others are read as well


class HalfLinear(nn.Module):
    """A linear layer in bfloat16, whatever its input: what is added to or normalised outside of it stays float32."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self.weight = nn.Parameter(layer.weight.detach().bfloat16(), requires_grad=False)
        self.bias = None if layer.bias is None else nn.Parameter(layer.bias.detach().bfloat16(), requires_grad=False)

    def forward(self, x: Tensor) -> Tensor:
        """W x + b; the products are summed in float32 by the processor and rounded once."""
        return nn.functional.linear(x.bfloat16(), self.weight, self.bias)


class LaidOutLinear(nn.Module):
    """A HalfLinear whose weights lie as this processor's matrix units read them, with the GELU that may follow it.

    nn.Linear would lay them out anew for every batch.
    """

    def __init__(self, layer: nn.Linear, gelu: bool = False) -> None:
        super().__init__()
        self.weight = torch.ops.mkldnn._reorder_linear_weight(layer.weight.detach().bfloat16(), TOKENS)
        self.bias = None if layer.bias is None else layer.bias.detach().bfloat16()
        self.then = "gelu" if gelu else "none"

    def forward(self, x: Tensor) -> Tensor:
        """W x + b, or its GELU."""
        found: Tensor = torch.ops.mkldnn._linear_pointwise(x.bfloat16(), self.weight, self.bias, self.then, [], "none")
        return found


def with_half_products(model: nn.Module) -> nn.Module:
    """A twin of a module whose linear layers compute in bfloat16; all else it shares with the module."""
    shared = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    linear = [layer for layer in model.modules() if isinstance(layer, nn.Linear)]
    twins: dict[int, nn.Module]
    if lays_out(next(model.parameters()).device):
        gelus = _gelus(model)
        twins = {id(layer): LaidOutLinear(layer, gelu=layer in gelus) for layer in linear}
        twins |= {id(gelu): nn.Identity() for gelu in gelus.values()}
    else:
        twins = {id(layer): HalfLinear(layer) for layer in linear}
    return copy.deepcopy(model, {**shared, **twins})  # what stands here is taken as the copy


def lays_out(device: torch.device) -> bool:
    """Whether torch has oneDNN's kernels for bfloat16 here."""
    return (
        device.type == "cpu" and torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported()
    )


def _gelus(model: nn.Module) -> dict[nn.Linear, nn.Module]:
    """The exact GELUs that follow a linear layer at once, by that layer, in blocks named as those of BERT."""
    from transformers.activations import GELUActivation

    blocks = ((getattr(b, "dense", None), getattr(b, "intermediate_act_fn", None)) for b in model.modules())
    return {layer: act for layer, act in blocks if isinstance(layer, nn.Linear) and isinstance(act, GELUActivation)}
