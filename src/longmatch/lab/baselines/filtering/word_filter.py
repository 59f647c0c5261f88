"""Match-Ignition's filter of words: in every layer of a transformer the least central words go no further.

L. Pang, Y. Lan, X. Cheng: "Match-Ignition: Plugging PageRank into Transformer for Long-form Text Matching", CIKM 2021.

What each word attends to, the mean over the heads, is a graph; PageRank tells how central a word is in it. A batch of
rows is filtered at once, on whatever device it is; pagerank.py has the same for one row, written plainly.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from longmatch.errors import LongmatchError
from longmatch.lab.baselines.filtering.pagerank import DAMPING

UNSEEN = -65504.0  # added to what padding is attended to: as little as any precision can write
STEPS = 50  # of PageRank: words attend to many others, so it settles long before
DECIMALS = 5  # of a rank in units of the mean rank: what differs less is equal


@dataclass(frozen=True)
class Reached:
    """The words that have come as far as some layer, in reading order."""

    hidden: Tensor  # (rows, words, width)
    places: Tensor  # (rows, words) where each stood in its row
    real: Tensor  # (rows, words) false for padding
    fixed: Tensor  # (rows, words) the words that are never dropped

    def only(self, ranks: Tensor, kept: float) -> "Reached":
        """The most central `kept` of the words, beside the fixed ones; of equal ranks the earlier goes on."""
        words = self.real.shape[1]
        free = self.real & ~self.fixed
        counts = self.fixed.sum(1) + (kept * free.sum(1) - 1e-6).ceil().long()
        rank = ranks.masked_fill(self.fixed, torch.inf).masked_fill(~self.real, -torch.inf)
        order = rank.argsort(dim=1, descending=True, stable=True)[:, : int(counts.max())]
        stays = torch.arange(order.shape[1], device=order.device) < counts[:, None]
        chosen = torch.where(stays, order, words).sort(dim=1).values.clamp(max=words - 1)  # padding comes last
        hidden = self.hidden.gather(1, chosen[..., None].expand(-1, -1, self.hidden.shape[2]))
        return Reached(hidden, self.places.gather(1, chosen), stays, self.fixed.gather(1, chosen) & stays)


def check(backbone: nn.Module) -> None:
    """The filter reads the attention of each layer, so it has to know where that is."""
    layers = getattr(getattr(backbone, "encoder", None), "layer", None)
    parts = [getattr(getattr(layer, "attention", None), "self", None) for layer in layers or []]
    if not parts or not all(hasattr(part, "query") and hasattr(part, "key") for part in parts):
        raise LongmatchError(
            f"The words of a {type(backbone).__name__} cannot be filtered, for its layers are not BERT's. "
            "Add --set word_filter=false, or name another backbone."
        )


def layer_by_layer(backbone: Any, inputs: Mapping[str, Tensor], fixed: Tensor, kept: float) -> Iterator[Reached]:
    """What the words are before the first layer, and after each: those that it leaves. The last layer drops none.

    `inputs` are the backbone's own; `fixed` (rows, words) tells the words that always stay.
    """
    real = inputs["attention_mask"].bool()
    hidden = backbone.embeddings(**{name: value for name, value in inputs.items() if name != "attention_mask"})
    if hasattr(backbone, "embeddings_project"):
        hidden = backbone.embeddings_project(hidden)
    places = torch.arange(real.shape[1], device=real.device).expand(real.shape)
    now = Reached(hidden, places, real, fixed & real)
    yield now
    for number, layer in enumerate(backbone.encoder.layer, start=1):
        mask = torch.zeros_like(now.hidden[..., 0]).masked_fill(~now.real, UNSEEN)[:, None, None]
        found = layer(now.hidden, mask)
        ahead = Reached(found[0] if isinstance(found, tuple) else found, now.places, now.real, now.fixed)
        if number < len(backbone.encoder.layer):
            ahead = ahead.only(word_ranks(attention(layer.attention.self, now.hidden, now.real), now.real), kept)
        now = ahead
        yield now


@torch.no_grad()
def attention(module: Any, hidden: Tensor, real: Tensor) -> Tensor:
    """How much each word attends to each, the mean over the heads: (rows, words, words), padding to nothing."""
    heads = int(module.num_attention_heads)
    queries, keys = (part(hidden).float().unflatten(2, (heads, -1)).unbind(2) for part in (module.query, module.key))
    total = hidden.new_zeros((*real.shape, real.shape[1]), dtype=torch.float32)
    with torch.autocast(hidden.device.type, enabled=False):
        for query, key in zip(queries, keys, strict=True):  # one head at a time: all at once take much room
            scores = query @ key.transpose(1, 2) / query.shape[2] ** 0.5
            total += scores.masked_fill(~real[:, None], -torch.inf).softmax(2)
    return total / heads


@torch.no_grad()
def word_ranks(weights: Tensor, real: Tensor, damping: float = DAMPING) -> Tensor:
    """PageRank of the words of each row, in units of its mean: (rows, words, words) -> (rows, words), 0 for padding.

    What a word attends to itself does not count. A word that attends to no other is left for all alike.
    """
    with torch.autocast(weights.device.type, enabled=False):
        counts = real.sum(1, keepdim=True).clamp(min=1)  # (rows, 1)
        own = torch.eye(real.shape[1], dtype=torch.bool, device=real.device)
        ways = weights.float().masked_fill(own | ~real[:, None] | ~real[..., None], 0.0)
        leaving = ways.sum(2, keepdim=True)
        anywhere = real[:, None] / counts[..., None]
        ways = torch.where(leaving > 0, ways / leaving.clamp(min=torch.finfo(ways.dtype).tiny), anywhere)
        ranks = real.float()
        for _ in range(STEPS):
            ranks = (damping * (ranks[:, None] @ ways)[:, 0] + 1 - damping) * real
        return ranks.round(decimals=DECIMALS)


def special_places(mask: Tensor, types: Tensor) -> Tensor:
    """Where the special tokens of rows [CLS] a [SEP] b [SEP] stand: (rows, tokens).

    >>> special_places(torch.ones(1, 6).bool(), torch.tensor([[0, 0, 0, 1, 1, 1]])).int().tolist()
    [[1, 0, 1, 0, 0, 1]]
    """
    steps = torch.arange(mask.shape[1], device=mask.device)
    first = (mask & ~types.bool()).sum(1, keepdim=True)  # where b begins
    return (steps == 0) | (steps == first - 1) | (steps == mask.sum(1, keepdim=True) - 1)
