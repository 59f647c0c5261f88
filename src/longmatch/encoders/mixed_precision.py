"""The precision `mixed`: linear layers in bfloat16; sums, norms and residuals in float32."""

import copy

import torch
from torch import Tensor, nn

TOKENS = 1_024  # the batch size for which weights are prepacked; others work as well


class Bfloat16Linear(nn.Module):
    """A linear layer that computes in bfloat16, whatever the precision of its input."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self.weight = nn.Parameter(layer.weight.detach().bfloat16(), requires_grad=False)
        self.bias = None if layer.bias is None else nn.Parameter(layer.bias.detach().bfloat16(), requires_grad=False)

    def forward(self, x: Tensor) -> Tensor:
        """W x + b; the CPU sums the products in float32 and rounds once."""
        return nn.functional.linear(x.bfloat16(), self.weight, self.bias)


class PrepackedLinear(nn.Module):
    """A Bfloat16Linear whose weights are prepacked for this CPU's matrix units, optionally fused with a GELU.

    nn.Linear would repack them for every batch.
    """

    def __init__(self, layer: nn.Linear, gelu: bool = False) -> None:
        super().__init__()
        self.weight = torch.ops.mkldnn._reorder_linear_weight(layer.weight.detach().bfloat16(), TOKENS)
        self.bias = None if layer.bias is None else layer.bias.detach().bfloat16()
        self.activation = "gelu" if gelu else "none"

    def forward(self, x: Tensor) -> Tensor:
        """W x + b, or GELU(W x + b)."""
        out: Tensor = torch.ops.mkldnn._linear_pointwise(
            x.bfloat16(), self.weight, self.bias, self.activation, [], "none"
        )
        return out


def with_bfloat16_linears(model: nn.Module) -> nn.Module:
    """A copy of a module whose linear layers compute in bfloat16; everything else is shared with the original."""
    shared = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    linears = [layer for layer in model.modules() if isinstance(layer, nn.Linear)]
    replacements: dict[int, nn.Module]
    if can_prepack(next(model.parameters()).device):
        gelus = _gelus(model)
        replacements = {id(layer): PrepackedLinear(layer, gelu=layer in gelus) for layer in linears}
        replacements |= {id(gelu): nn.Identity() for gelu in gelus.values()}
    else:
        replacements = {id(layer): Bfloat16Linear(layer) for layer in linears}
    return copy.deepcopy(model, {**shared, **replacements})  # deepcopy takes these as the copies


def can_prepack(device: torch.device) -> bool:
    """Whether torch can prepack bfloat16 weights here, with oneDNN."""
    return (
        device.type == "cpu" and torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported()
    )


def _gelus(model: nn.Module) -> dict[nn.Linear, nn.Module]:
    """The exact GELU directly after a linear layer, by that layer, in blocks named as in BERT."""
    from transformers.activations import GELUActivation

    blocks = ((getattr(b, "dense", None), getattr(b, "intermediate_act_fn", None)) for b in model.modules())
    return {layer: act for layer, act in blocks if isinstance(layer, nn.Linear) and isinstance(act, GELUActivation)}
