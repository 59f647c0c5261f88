"""One layer of BERT over tokens in one array, its three first products as one; compiled where that pays."""

import os
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, gelu, layer_norm, linear

from longmatch.encoders.packed.attention import attend_padded
from longmatch.encoders.packed.kernels import attend_fused, usable
from longmatch.errors import LongmatchWarning

COMPILE_AFTER = 50_000_000  # tokens: to read them takes about as long as to compile

Layer = Callable[..., Tensor]


def weights_of(layer: Any) -> list[nn.Parameter]:
    """All weights of a BERT layer, in the order in which `read_layer` takes them."""
    own, out = layer.attention.self, layer.attention.output
    linears = (own.query, own.key, own.value, out.dense, layer.intermediate.dense, layer.output.dense)
    norms = (out.LayerNorm, layer.output.LayerNorm)
    return [tensor for part in (*linears, *norms) for tensor in (part.weight, part.bias)]


def read_layer(
    x: Tensor,
    offsets: Tensor,
    longest: Tensor,
    weights: Sequence[Tensor],
    heads: int,
    epsilon: float,
    drop: tuple[float, float],
    attend: Layer,
) -> Tensor:
    """(tokens, width) -> (tokens, width), in the precision of x; `drop` are the shares dropped of states and weights."""
    wq, bq, wk, bk, wv, bv, wo, bo, wu, bu, wd, bd, *norms = (weight.to(x.dtype) for weight in weights)
    first, second = norms[:2], norms[2:]
    width = x.shape[1]
    qkv = linear(x, torch.cat([wq, wk, wv]), torch.cat([bq, bk, bv])).view(-1, 3, heads, width // heads)
    taken = linear(attend(qkv, offsets, longest, drop[1]).view(-1, width), wo, bo)
    x = layer_norm(_dropped(taken, drop[0]) + x, (width,), *first, epsilon)
    made = linear(gelu(linear(x, wu, bu)), wd, bd)
    return layer_norm(_dropped(made, drop[0]) + x, (width,), *second, epsilon)


def _dropped(x: Tensor, share: float) -> Tensor:
    return dropout(x, share) if share else x


class _Compiler:
    """Compiles the layer once enough was read for that to pay, or at once if LONGMATCH_COMPILE is 1; never if it is 0.

    What cannot be compiled is read as it is written, with one warning.
    """

    def __init__(self) -> None:
        self.read, self.failed, self.tried = 0, False, set[tuple[bool, int]]()

    def wanted(self, tokens: int) -> bool:
        self.read += tokens
        said = os.environ.get("LONGMATCH_COMPILE")
        return not self.failed and said != "0" and (said == "1" or self.read > COMPILE_AFTER)

    def works(self, x: Tensor, offsets: Tensor, longest: Tensor, weights: Sequence[Tensor], *others: Any) -> bool:
        """Compile it, forth and back, on what is to be read, without a trace in the gradients of the weights."""
        learning = torch.is_grad_enabled() and (x.requires_grad or any(w.requires_grad for w in weights))
        if (learning, x.shape[1]) in self.tried:
            return not self.failed
        self.tried.add((learning, x.shape[1]))
        try:
            for tensor in (x, offsets):
                torch._dynamo.maybe_mark_dynamic(tensor, 0)
            found = compiled()(x, offsets, longest, weights, *others)
            if learning:
                torch.autograd.grad(found, [t for t in (x, *weights) if t.requires_grad], torch.ones_like(found))
        except Exception as error:  # whatever it is: there is another way
            self.failed = True
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            warnings.warn(f"Compiling failed, so this run is slower ({reason}).", LongmatchWarning, stacklevel=2)
        return not self.failed


COMPILER = _Compiler()


@cache
def compiled() -> Layer:
    """`read_layer` compiled for any number of tokens."""
    found: Layer = torch.compile(read_layer)
    return found


def read_layers(x: Tensor, offsets: Tensor, longest: int, layers: Sequence[Any], config: Any, training: bool) -> Tensor:
    """Through all layers: (tokens, width)."""
    heads, count = int(config.num_attention_heads), torch.tensor(longest)
    drop = (config.hidden_dropout_prob, config.attention_probs_dropout_prob) if training else (0.0, 0.0)
    fused = usable(x.device, x.dtype, x.shape[1] // heads)
    others = (heads, config.layer_norm_eps, drop, attend_fused if fused else attend_padded)
    read = read_layer
    if fused and COMPILER.wanted(len(x)) and COMPILER.works(x, offsets, count, weights_of(layers[0]), *others):
        read = compiled()
    for layer in layers:
        x = read(x, offsets, count, weights_of(layer), *others)
    return x
