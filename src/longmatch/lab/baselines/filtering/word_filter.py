"""Match-Ignition's word filter: every layer of a transformer drops its least central words.

L. Pang, Y. Lan, X. Cheng: "Match-Ignition: Plugging PageRank into Transformer for Long-form Text Matching", CIKM 2021.

The attention of a layer, averaged over the heads, is a graph; PageRank measures how central a word is in it. A batch of
rows is filtered at once, on any device; pagerank.py has the plain version for one row.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from longmatch.errors import LongmatchError
from longmatch.lab.baselines.filtering.pagerank import DAMPING

UNSEEN = -65504.0  # attention bias of padding: the lowest number of the smallest precision
STEPS = 50  # of PageRank: attention graphs are dense, so it converges long before
DECIMALS = 5  # of a rank relative to the mean rank: smaller differences are ties


@dataclass(frozen=True)
class LayerWords:
    """The words that remain after some layer, in reading order."""

    hidden: Tensor  # (rows, words, width)
    places: Tensor  # (rows, words) original positions
    real: Tensor  # (rows, words) false for padding
    fixed: Tensor  # (rows, words) words that are never dropped

    def keep_most_central(self, ranks: Tensor, kept: float) -> "LayerWords":
        """The fixed words and the most central share `kept` of the others; ties go to the earlier word."""
        words = self.real.shape[1]
        free = self.real & ~self.fixed
        counts = self.fixed.sum(1) + (kept * free.sum(1) - 1e-6).ceil().long()
        rank = ranks.masked_fill(self.fixed, torch.inf).masked_fill(~self.real, -torch.inf)
        order = rank.argsort(dim=1, descending=True, stable=True)[:, : int(counts.max())]
        stays = torch.arange(order.shape[1], device=order.device) < counts[:, None]
        chosen = torch.where(stays, order, words).sort(dim=1).values.clamp(max=words - 1)  # padding comes last
        hidden = self.hidden.gather(1, chosen[..., None].expand(-1, -1, self.hidden.shape[2]))
        return LayerWords(hidden, self.places.gather(1, chosen), stays, self.fixed.gather(1, chosen) & stays)


def check_backbone(backbone: nn.Module) -> None:
    """Raise an error unless the backbone's layers expose their attention as BERT's do."""
    layers = getattr(getattr(backbone, "encoder", None), "layer", None)
    parts = [getattr(getattr(layer, "attention", None), "self", None) for layer in layers or []]
    if not parts or not all(hasattr(part, "query") and hasattr(part, "key") for part in parts):
        raise LongmatchError(
            f"The words of a {type(backbone).__name__} cannot be filtered, because its layers are not BERT's. "
            "Add --set word_filter=false, or name another backbone."
        )


def filtered_layers(backbone: Any, inputs: Mapping[str, Tensor], fixed: Tensor, kept: float) -> Iterator[LayerWords]:
    """The words before the first layer, and those remaining after each; the last layer drops none.

    `inputs` are those of the backbone; `fixed` (rows, words) marks words that are never dropped.
    """
    real = inputs["attention_mask"].bool()
    hidden = backbone.embeddings(**{name: value for name, value in inputs.items() if name != "attention_mask"})
    if hasattr(backbone, "embeddings_project"):
        hidden = backbone.embeddings_project(hidden)
    places = torch.arange(real.shape[1], device=real.device).expand(real.shape)
    now = LayerWords(hidden, places, real, fixed & real)
    yield now
    for number, layer in enumerate(backbone.encoder.layer, start=1):
        mask = torch.zeros_like(now.hidden[..., 0]).masked_fill(~now.real, UNSEEN)[:, None, None]
        output = layer(now.hidden, mask)
        after = LayerWords(output[0] if isinstance(output, tuple) else output, now.places, now.real, now.fixed)
        if number < len(backbone.encoder.layer):
            after = after.keep_most_central(
                word_ranks(attention(layer.attention.self, now.hidden, now.real), now.real), kept
            )
        now = after
        yield now


@torch.no_grad()
def attention(module: Any, hidden: Tensor, real: Tensor) -> Tensor:
    """The attention weights, averaged over the heads: (rows, words, words); padding gets none."""
    heads = int(module.num_attention_heads)
    queries, keys = (part(hidden).float().unflatten(2, (heads, -1)).unbind(2) for part in (module.query, module.key))
    total = hidden.new_zeros((*real.shape, real.shape[1]), dtype=torch.float32)
    with torch.autocast(hidden.device.type, enabled=False):
        for query, key in zip(queries, keys, strict=True):  # one head at a time, to save memory
            scores = query @ key.transpose(1, 2) / query.shape[2] ** 0.5
            total += scores.masked_fill(~real[:, None], -torch.inf).softmax(2)
    return total / heads


@torch.no_grad()
def word_ranks(weights: Tensor, real: Tensor, damping: float = DAMPING) -> Tensor:
    """PageRank of each row's words, relative to the mean: (rows, words, words) -> (rows, words), 0 for padding.

    Self-attention is ignored. From a word that attends to no other, the walk jumps to a random one.
    """
    with torch.autocast(weights.device.type, enabled=False):
        counts = real.sum(1, keepdim=True).clamp(min=1)  # (rows, 1)
        diagonal = torch.eye(real.shape[1], dtype=torch.bool, device=real.device)
        edges = weights.float().masked_fill(diagonal | ~real[:, None] | ~real[..., None], 0.0)
        total = edges.sum(2, keepdim=True)
        uniform = real[:, None] / counts[..., None]
        edges = torch.where(total > 0, edges / total.clamp(min=torch.finfo(edges.dtype).tiny), uniform)
        ranks = real.float()
        for _ in range(STEPS):
            ranks = (damping * (ranks[:, None] @ edges)[:, 0] + 1 - damping) * real
        return ranks.round(decimals=DECIMALS)


def special_places(mask: Tensor, types: Tensor) -> Tensor:
    """Mask of the special tokens in rows [CLS] a [SEP] b [SEP]: (rows, tokens).

    >>> special_places(torch.ones(1, 6).bool(), torch.tensor([[0, 0, 0, 1, 1, 1]])).int().tolist()
    [[1, 0, 1, 0, 0, 1]]
    """
    steps = torch.arange(mask.shape[1], device=mask.device)
    start = (mask & ~types.bool()).sum(1, keepdim=True)  # of b
    return (steps == 0) | (steps == start - 1) | (steps == mask.sum(1, keepdim=True) - 1)
