"""One layer of BERT over tokens in one array, its three first products as one; compiled where that pays."""

import os
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, layer_norm, linear

from longmatch.encoders.packed.attention import attend
from longmatch.encoders.packed.dropout import dropped
from longmatch.errors import LongmatchWarning

READ_BEFORE = 50_000_000  # tokens: to read them takes about as long as to compile
LEARNT_AT_ONCE = 8_192  # tokens from which on learning is compiled: whoever learns reads many more

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
    seeds: Tensor,
    weights: Sequence[Tensor],
    heads: int,
    epsilon: float,
    drop: tuple[float, float],
) -> Tensor:
    """(tokens, width) -> (tokens, width), in the precision of x; `drop`: the shares dropped of states and attention."""
    wq, bq, wk, bk, wv, bv, wo, bo, wu, bu, wd, bd, *norms = (weight.to(x.dtype) for weight in weights)
    width = x.shape[1]
    qkv = linear(x, torch.cat([wq, wk, wv]), torch.cat([bq, bk, bv])).view(-1, 3, heads, width // heads)
    taken = linear(attend(qkv, offsets, longest, drop[1]).view(-1, width), wo, bo)
    x = layer_norm(dropped(taken, drop[0], seeds[0]) + x, (width,), norms[0], norms[1], epsilon)
    made = linear(gelu(linear(x, wu, bu)), wd, bd)
    return layer_norm(dropped(made, drop[0], seeds[1]) + x, (width,), norms[2], norms[3], epsilon)


class Compiler:
    """Whether the layer is compiled: on a GPU to learn from large batches, and to read once much was read.

    LONGMATCH_COMPILE is 1: always, 0: never. What cannot be compiled is read as it is written, with one warning. What
    dropout draws depends on it, so for learning it is a matter of the batch alone, not of what went before.
    """

    def __init__(self) -> None:
        self.read, self.failed = 0, False
        self.tried: set[tuple[Any, ...]] = set()

    def wants(self, x: Tensor) -> bool:
        """Whether to compile for these tokens."""
        said = os.environ.get("LONGMATCH_COMPILE")
        self.read += len(x)
        pays = len(x) >= LEARNT_AT_ONCE if x.requires_grad else self.read > READ_BEFORE
        return not self.failed and said != "0" and (said == "1" or (pays and x.device.type == "cuda"))

    def works(
        self, x: Tensor, offsets: Tensor, longest: Tensor, seeds: Tensor, weights: Sequence[Tensor], *facts: Any
    ) -> bool:
        """Try it, forth and back, on what is to be read, without a trace in the gradients of the weights."""
        learning = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (x, *weights))
        kind = (learning, x.dtype, weights[0].dtype, x.shape[1], *facts)
        if kind in self.tried:
            return not self.failed
        self.tried.add(kind)
        devices = [x.device] if x.device.type == "cuda" else []
        try:
            x, offsets = x.detach().requires_grad_(x.requires_grad), offsets.clone()
            for tensor in (x, offsets):  # only these differ from call to call
                torch._dynamo.maybe_mark_dynamic(tensor, 0)
            with torch.random.fork_rng(devices), torch._dynamo.config.patch(automatic_dynamic_shapes=False):
                found = compiled()(x, offsets, longest, seeds, weights, *facts)
                if learning:
                    learnt = [tensor for tensor in (x, *weights) if tensor.requires_grad]
                    torch.autograd.grad(found, learnt, torch.ones_like(found))
        except Exception as error:  # whatever it is: there is another way
            self.failed = True
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            warnings.warn(f"Compiling failed, so this is slower ({reason}).", LongmatchWarning, stacklevel=2)
        return not self.failed


COMPILER = Compiler()


@cache
def compiled() -> Layer:
    """`read_layer` compiled for any number of tokens."""
    found: Layer = torch.compile(read_layer)
    return found


def read_layers(x: Tensor, offsets: Tensor, longest: int, layers: Sequence[Any], config: Any, training: bool) -> Tensor:
    """Through all layers: (tokens, width). `offsets` are int32."""
    drop = (config.hidden_dropout_prob, config.attention_probs_dropout_prob) if training else (0.0, 0.0)
    facts, most = (int(config.num_attention_heads), config.layer_norm_eps, drop), torch.tensor(longest)
    seeds = torch.zeros(len(layers), 4, dtype=torch.int32, device=x.device)  # of four two are used: 16 bytes a layer
    if drop[0]:
        seeds.random_(-(2**31), 2**31)
    read: Layer = read_layer
    if COMPILER.wants(x) and COMPILER.works(x, offsets, most, seeds[0], weights_of(layers[0]), *facts):
        read = compiled()
    for layer, seed in zip(layers, seeds, strict=True):
        x = read(x, offsets, most, seed, weights_of(layer), *facts)
    return x
