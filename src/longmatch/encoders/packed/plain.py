"""Attention within each of many sequences the obvious way: padded, and the padding left out again. On any device."""

import torch
from torch import Tensor

Saved = tuple[Tensor, Tensor, Tensor]  # what attention gives; logarithms of sums, if it keeps them; what it drew from


def forward(qkv: Tensor, offsets: Tensor, longest: int, dropout: float) -> Saved:
    """(tokens, 3, heads, size) -> (tokens, heads, size)."""
    drawn = seeds(qkv, dropout)
    mask, places = _layout(qkv, offsets, longest)
    query, key, value = qkv[places].permute(2, 0, 3, 1, 4)  # each (sequences, heads, longest, size)
    kept = _weights(query, key, mask) * _kept(query, longest, dropout, drawn)
    return (kept @ value).transpose(1, 2)[mask], no_sums(qkv), drawn


def backward(
    grad: Tensor, qkv: Tensor, out: Tensor, sums: Tensor, drawn: Tensor, offsets: Tensor, longest: int, dropout: float
) -> Tensor:
    """The gradient for (tokens, 3, heads, size) from that for (tokens, heads, size)."""
    mask, places = _layout(qkv, offsets, longest)
    query, key, value = qkv[places].permute(2, 0, 3, 1, 4)
    above = grad[places].transpose(1, 2) * mask[:, None, :, None]
    weights, kept = _weights(query, key, mask), _kept(query, longest, dropout, drawn)
    each = (above @ value.transpose(2, 3)) * kept  # for each weight
    scores = weights * (each - (each * weights).sum(3, keepdim=True)) * query.shape[3] ** -0.5
    found = (scores @ key, scores.transpose(2, 3) @ query, (weights * kept).transpose(2, 3) @ above)
    return torch.stack(found).permute(1, 3, 0, 2, 4)[mask]


def seeds(qkv: Tensor, dropout: float) -> Tensor:
    """Two numbers from which dropout is drawn; zeros where there is none."""
    device = qkv.device
    found = torch.randint(1 << 62, (2,), device=device) if dropout else torch.zeros(2, dtype=torch.int64, device=device)
    return found.view(torch.uint64)


def no_sums(qkv: Tensor) -> Tensor:
    """In the place of the sums, where they are worked out again on the way back."""
    return qkv.new_zeros((qkv.shape[2], len(qkv)), dtype=torch.float32)


def _layout(qkv: Tensor, offsets: Tensor, longest: int) -> tuple[Tensor, Tensor]:
    """Where there is a token, and which: (sequences, longest)."""
    steps = torch.arange(longest, device=qkv.device)
    return steps < offsets.diff()[:, None], (offsets[:-1, None] + steps).clamp(max=len(qkv) - 1)


def _weights(query: Tensor, key: Tensor, mask: Tensor) -> Tensor:
    scores = (query @ key.transpose(2, 3)) * query.shape[3] ** -0.5
    weights: Tensor = scores.masked_fill(~mask[:, None, None], float("-inf")).softmax(3)
    return weights


def _kept(query: Tensor, longest: int, dropout: float, drawn: Tensor) -> Tensor | float:
    """By what each weight is multiplied: 0 for those that are dropped."""
    if not dropout:
        return 1.0
    random = torch.Generator(query.device).manual_seed(int(drawn.view(torch.int64)[0]))
    share = torch.rand((*query.shape[:2], longest, longest), generator=random, device=query.device)
    return (share >= dropout).to(query.dtype) / (1 - dropout)
