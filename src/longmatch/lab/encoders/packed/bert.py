"""A BERT over packed sequences: all their tokens in one array, without padding.

`bert_layer` defines a layer. On a GPU in 16 bits fused_layer.py computes the same with our own kernels, which are first
tried on random input: if they fail or give different numbers, they are not used, with one warning. LONGMATCH_KERNELS=0
turns them off.
"""

import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, embedding, gelu, layer_norm, linear

from longmatch.encoders.engine import Ints, Vectors, lengths_of, pipelined
from longmatch.lab.encoders.engine import TorchEngine, first_position
from longmatch.lab.encoders.flat import FlatTokens, groups_within
from longmatch.lab.encoders.packed.attention import HALF, attend, kernels_enabled, largest_error, works
from longmatch.lab.encoders.packed.fused_layer import FusedLayer
from longmatch.lab.encoders.ragged import fetch_async, offsets_of, segment_max, to_device

MODEL_TYPES = ("bert", "roberta", "xlm-roberta")
TOKEN_BYTES = 48  # of memory in training, per token, layer and dimension
MULTIPLE = 512  # tokens on a GPU are padded to it, so that allocations and products have few shapes
KEY_BIAS = 5  # index among a layer's output and gradients: it shifts all scores of a query alike, so has no gradient
AHEAD = 3  # batches prepared in advance, and as many queued on the GPU
GPU_BUDGETS = 4  # token budgets per batch on a GPU: it computes one faster than the CPU can launch its kernels


def uses_packing(model: Any) -> bool:
    """Whether `model` is computed without padding: a BERT on a GPU in 16 bits is.

    LONGMATCH_PACKED=1 packs any BERT on any device, 0 none.
    """
    setting, config = os.environ.get("LONGMATCH_PACKED"), getattr(model, "config", None)
    is_plain_bert = (
        getattr(config, "model_type", None) in MODEL_TYPES
        and getattr(config, "hidden_act", None) == "gelu"
        and not getattr(config, "is_decoder", False)
        and getattr(config, "position_embedding_type", "absolute") in ("absolute", None)
        and all(hasattr(model, part) for part in ("embeddings", "encoder"))
    )
    if setting == "0" or not is_plain_bert:
        return False
    return setting == "1" or (model.device.type == "cuda" and _precision(model, model.device) in HALF)


def forward_packed(
    model: Any,
    text: FlatTokens,
    added: Tensor | None = None,
    words: Tensor | None = None,
    types: Tensor | None = None,
) -> Tensor:
    """Vectors of all tokens, in order: (tokens, width), equal to those of `model` for padded sequences.

    `added` (sequences, width) is added to the word embeddings of each sequence. `words` (tokens, width) replace the
    word embeddings; the text's ids are then their positions. `types` (tokens,) are token types, 0 by default. The
    precision is that of autocast if enabled, else that of the weights.
    """
    device, has_dropout = text.ids.device, model.training and model.config.hidden_dropout_prob > 0
    needs_grad, precision = torch.is_grad_enabled(), _precision(model, device)
    with torch.autocast(device.type, enabled=False), torch.set_grad_enabled(needs_grad or has_dropout):
        # with dropout, passes with and without gradients must run the same code, so that both drop the same
        states = _forward(model, _padded(text) if device.type == "cuda" else text, added, words, types, precision)
    return states[: text.tokens] if needs_grad else states[: text.tokens].detach()


def forward_rows(model: Any, ids: Tensor, mask: Tensor, types: Tensor | None = None) -> Tensor:
    """The same for padded rows (rows, longest), whose real tokens come first: (rows, longest, width), 0 for padding."""
    real = mask.bool()
    text = FlatTokens(ids[real], real.sum(1).cpu())
    states = forward_packed(model, text, types=None if types is None else types[real])
    return states.new_zeros(*ids.shape, states.shape[1]).masked_scatter(real[..., None], states)


def tokens_that_fit(model: Any, device: torch.device) -> int | None:
    """How many tokens half of a GPU's memory holds in training; None if unknown."""
    if device.type != "cuda" or not uses_packing(model):
        return None
    config, memory = model.config, torch.cuda.get_device_properties(device).total_memory
    return int(memory / 2 / (TOKEN_BYTES * config.num_hidden_layers * config.hidden_size))


def pool_packed(states: Tensor, text: FlatTokens, mode: str = "mean") -> Tensor:
    """One float32 vector per sequence from its token vectors: their mean, max, or the first (cls)."""
    offsets = to_device(offsets_of(text.lengths), states.device)
    if mode == "cls":
        return states.index_select(0, offsets[:-1]).float()
    if mode == "max":
        return segment_max(states.float(), offsets)
    lengths = offsets.diff()[:, None]
    sums: Tensor = torch.segment_reduce(states.float(), "sum", offsets=offsets, axis=0, unsafe=True, initial=0)
    return sums / lengths


def _forward(
    model: Any,
    text: FlatTokens,
    added: Tensor | None,
    words: Tensor | None,
    types: Tensor | None,
    dtype: torch.dtype,
) -> Tensor:
    offsets = to_device(offsets_of(text.lengths), text.ids.device)
    sequence = torch.repeat_interleave(offsets.diff(), output_size=text.tokens)  # of each token
    embeddings = model.embeddings
    table = embeddings.position_embeddings
    first = first_position(model)
    if words is None:
        vocabulary = embeddings.word_embeddings
        x = embedding(text.ids, vocabulary.weight.to(dtype), vocabulary.padding_idx)
        positions = torch.arange(first, first + text.tokens, device=sequence.device) - offsets[sequence]
    else:
        x, positions = _padded_rows(words.to(dtype), text.tokens), text.ids + first
    if added is not None:
        x = x + embedding(sequence, _padded_rows(added.to(dtype), len(text)))
    kinds = embeddings.token_type_embeddings.weight
    x = x + embedding(positions, (table.weight + kinds[0]).to(dtype))
    if types is not None:
        x = x + embedding(nn.functional.pad(types, (0, text.tokens - len(types))), (kinds - kinds[0]).to(dtype))
    norm = embeddings.LayerNorm
    x = layer_norm(x, norm.normalized_shape, norm.weight.to(dtype), norm.bias.to(dtype), norm.eps)
    x, offsets, longest, config = embeddings.dropout(x), offsets.int(), int(text.lengths.max()), model.config
    drop = (config.hidden_dropout_prob, config.attention_probs_dropout_prob) if model.training else (0.0, 0.0)
    heads = int(config.num_attention_heads)
    may_fuse = x.device.type == "cuda" and dtype in HALF and kernels_enabled()
    is_fused = may_fuse and _fused_works(dtype, x.shape[1], heads)
    compute: Callable[..., Tensor] = FusedLayer.apply if is_fused else bert_layer
    for layer in model.encoder.layer:
        x = compute(x, offsets, longest, heads, config.layer_norm_eps, drop, *weights_of(layer))
    return x


def _padded(text: FlatTokens) -> FlatTokens:
    """Append sequences of padding, none longer than the longest, up to a multiple of MULTIPLE tokens."""
    missing, longest = -text.tokens % MULTIPLE, int(text.lengths.max())
    if not missing:
        return text
    added = [longest] * (missing // longest) + ([missing % longest] if missing % longest else [])
    return FlatTokens(nn.functional.pad(text.ids, (0, missing)), torch.cat([text.lengths, torch.tensor(added)]))


def _precision(model: Any, device: torch.device) -> torch.dtype:
    if torch.is_autocast_enabled(device.type):
        return torch.get_autocast_dtype(device.type)
    dtype: torch.dtype = next(model.parameters()).dtype
    return dtype


def _padded_rows(rows: Tensor, count: int) -> Tensor:
    """Append rows of zeros up to `count` rows."""
    return nn.functional.pad(rows, (0, 0, 0, count - len(rows)))


def weights_of(layer: Any) -> list[nn.Parameter]:
    """All weights of a BERT layer, in the order `bert_layer` takes them."""
    attention, out = layer.attention.self, layer.attention.output
    linears = (attention.query, attention.key, attention.value, out.dense, layer.intermediate.dense, layer.output.dense)
    norms = (out.LayerNorm, layer.output.LayerNorm)
    return [tensor for part in (*linears, *norms) for tensor in (part.weight, part.bias)]


def bert_layer(
    x: Tensor,
    offsets: Tensor,
    longest: int,
    heads: int,
    epsilon: float,
    drop: tuple[float, float],
    *weights: Tensor,
) -> Tensor:
    """(tokens, width) -> (tokens, width), in the precision of x; `drop`: dropout rates of states and of attention."""
    wq, bq, wk, bk, wv, bv, wo, bo, wu, bu, wd, bd, *norms = (weight.to(x.dtype) for weight in weights)
    width = x.shape[1]
    qkv = linear(x, torch.cat([wq, wk, wv]), torch.cat([bq, bk, bv])).view(-1, 3, heads, width // heads)
    attended = linear(attend(qkv, offsets, longest, drop[1]).view(-1, width), wo, bo)
    x = layer_norm(dropout(attended, drop[0]) + x, (width,), norms[0], norms[1], epsilon)
    out = linear(gelu(linear(x, wu, bu)), wd, bd)
    return layer_norm(dropout(out, drop[0]) + x, (width,), norms[2], norms[3], epsilon)


@cache
def _fused_works(dtype: torch.dtype, width: int, heads: int) -> bool:
    return works("layer", lambda: fused_error((5, 70, 1, 130), dtype, width, heads, torch.device("cuda")))


def fused_error(lengths: tuple[int, ...], dtype: torch.dtype, width: int, heads: int, device: torch.device) -> float:
    """Error of the fused layer against `bert_layer` in float32, forward and backward, relative to the largest value."""
    generator = torch.Generator().manual_seed(0)

    def random(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator).to(device, dtype) / math.sqrt(shape[-1])

    products = [(width, width)] * 4 + [(4 * width, width), (width, 4 * width)]
    weights = [part for rows, columns in products for part in (random(rows, columns), random(rows))]
    weights += [part for _ in range(2) for part in (1 + random(width), random(width))]
    x, grad = (random(sum(lengths), width) * math.sqrt(width) for _ in range(2))
    offsets = torch.tensor([0, *lengths]).cumsum(0).to(device, torch.int32)
    results = []
    for compute, precision in ((FusedLayer.apply, dtype), (bert_layer, torch.float32)):
        inputs = [tensor.to(precision).requires_grad_() for tensor in (x, *weights)]
        with torch.enable_grad():
            out = compute(inputs[0], offsets, max(lengths), heads, 1e-12, (0.0, 0.0), *inputs[1:])
            results.append((out.detach(), *torch.autograd.grad(out, inputs, grad.to(precision))))
    pairs = list(zip(*results, strict=True))
    del pairs[KEY_BIAS]
    return max(largest_error(*pair) for pair in pairs)


class PackedEngine(TorchEngine):
    """Encodes packed batches of pieces of similar length with a Hugging Face module's weights."""

    def encode(self, pieces: Sequence[Ints], specials: tuple[int, int]) -> Iterator[tuple[Ints, Vectors]]:
        """Indices and unit vectors of the pieces of each batch."""
        lengths = lengths_of(pieces)
        budget = self.token_budget * (GPU_BUDGETS if self.device_type == "cuda" else 1)
        order = np.argsort(-lengths.astype(np.int16), kind="stable")  # radix sort: one pass over 16 bits
        runs = groups_within(torch.from_numpy(lengths[order] + 2), budget)

        def packed(rows: Ints) -> FlatTokens:
            text = FlatTokens.of([pieces[row] for row in rows.tolist()], specials)
            return FlatTokens(text.ids.pin_memory(), text.lengths) if self.device.type == "cuda" else text

        with ThreadPoolExecutor(1) as pool:
            batches = (order[first:last] for first, last in runs)
            texts = pipelined(batches, lambda rows: pool.submit(packed, rows).result, depth=AHEAD)
            for (rows, _), vectors in pipelined(texts, lambda batch: self._start(batch[1]), depth=AHEAD):
                yield rows, vectors.numpy()

    def _start(self, text: FlatTokens) -> Callable[[], Tensor]:
        """Start encoding; returns a function that waits for the vectors."""
        with torch.inference_mode(False), torch.no_grad():
            text = text.to(self.device)
            pooled = pool_packed(forward_packed(self.model, text), text, self.pooling)
            return fetch_async(nn.functional.normalize(pooled, dim=1))
