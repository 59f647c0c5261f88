"""Layers of BERT over tokens in one array, the three first products of each as one.

`read_layer` says what a layer is. On a GPU in 16 bits fused.py computes the same with kernels of its own, tried on
drawn numbers before their first use: where they fail, or give other numbers, they are left out with one warning.
LONGMATCH_KERNELS=0 leaves them out.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, gelu, layer_norm, linear

from longmatch.encoders.packed.attention import HALF, attend
from longmatch.encoders.packed.fused import FusedLayer
from longmatch.encoders.packed.kernel_check import are_wanted, largest_error, works

BIAS_OF_KEYS = 5  # among what a layer gives and its gradients: it moves all scores of a query alike, so has none


def weights_of(layer: Any) -> list[nn.Parameter]:
    """All weights of a BERT layer, in the order in which `read_layer` takes them."""
    own, out = layer.attention.self, layer.attention.output
    linears = (own.query, own.key, own.value, out.dense, layer.intermediate.dense, layer.output.dense)
    norms = (out.LayerNorm, layer.output.LayerNorm)
    return [tensor for part in (*linears, *norms) for tensor in (part.weight, part.bias)]


def read_layer(
    x: Tensor,
    offsets: Tensor,
    longest: int,
    heads: int,
    epsilon: float,
    drop: tuple[float, float],
    *weights: Tensor,
) -> Tensor:
    """(tokens, width) -> (tokens, width), in the precision of x; `drop`: the shares dropped of states and attention."""
    wq, bq, wk, bk, wv, bv, wo, bo, wu, bu, wd, bd, *norms = (weight.to(x.dtype) for weight in weights)
    width = x.shape[1]
    qkv = linear(x, torch.cat([wq, wk, wv]), torch.cat([bq, bk, bv])).view(-1, 3, heads, width // heads)
    taken = linear(attend(qkv, offsets, longest, drop[1]).view(-1, width), wo, bo)
    x = layer_norm(dropout(taken, drop[0]) + x, (width,), norms[0], norms[1], epsilon)
    made = linear(gelu(linear(x, wu, bu)), wd, bd)
    return layer_norm(dropout(made, drop[0]) + x, (width,), norms[2], norms[3], epsilon)


def read_layers(x: Tensor, offsets: Tensor, longest: int, layers: Sequence[Any], config: Any, training: bool) -> Tensor:
    """Through all layers: (tokens, width). `offsets` are int32."""
    drop = (config.hidden_dropout_prob, config.attention_probs_dropout_prob) if training else (0.0, 0.0)
    facts = (int(config.num_attention_heads), config.layer_norm_eps, drop)
    read: Callable[..., Tensor] = FusedLayer.apply if is_fused(x, facts[0]) else read_layer
    for layer in layers:
        x = read(x, offsets, longest, *facts, *weights_of(layer))
    return x


def is_fused(x: Tensor, heads: int) -> bool:
    """Whether our own kernels read these tokens."""
    if x.device.type != "cuda" or x.dtype not in HALF or not are_wanted():
        return False
    return _works(x.dtype, x.shape[1], heads)


@cache
def _works(dtype: torch.dtype, width: int, heads: int) -> bool:
    return works("layer", lambda: error((5, 70, 1, 130), dtype, width, heads, torch.device("cuda")))


def error(lengths: tuple[int, ...], dtype: torch.dtype, width: int, heads: int, device: torch.device) -> float:
    """How far the fused layer is from the obvious one in float32, forth and back, as a share of the largest number."""
    random = torch.Generator().manual_seed(0)

    def drawn(*shape: int) -> Tensor:
        return torch.randn(shape, generator=random).to(device, dtype) / math.sqrt(shape[-1])

    products = [(width, width)] * 4 + [(4 * width, width), (width, 4 * width)]
    weights = [part for rows, columns in products for part in (drawn(rows, columns), drawn(rows))]
    weights += [part for _ in range(2) for part in (1 + drawn(width), drawn(width))]
    x, above = (drawn(sum(lengths), width) * math.sqrt(width) for _ in range(2))
    offsets = torch.tensor([0, *lengths]).cumsum(0).to(device, torch.int32)
    both = []
    for read, precision in ((FusedLayer.apply, dtype), (read_layer, torch.float32)):
        given = [tensor.to(precision).requires_grad_() for tensor in (x, *weights)]
        with torch.enable_grad():
            found = read(given[0], offsets, max(lengths), heads, 1e-12, (0.0, 0.0), *given[1:])
            both.append((found.detach(), *torch.autograd.grad(found, given, above.to(precision))))
    pairs = list(zip(*both, strict=True))
    del pairs[BIAS_OF_KEYS]
    return max(largest_error(*pair) for pair in pairs)
