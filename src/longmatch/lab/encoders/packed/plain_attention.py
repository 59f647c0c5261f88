"""Reference attention for packed sequences, on any device: pad, attend, remove the padding."""

import torch
from torch import Tensor

Saved = tuple[Tensor, Tensor, Tensor]  # output, log-sum-exp of each query's scores if kept, seeds of dropout


def forward(qkv: Tensor, offsets: Tensor, longest: int, dropout: float) -> Saved:
    """(tokens, 3, heads, size) -> (tokens, heads, size)."""
    seeds = dropout_seeds(qkv, dropout)
    mask, positions = _layout(qkv, offsets, longest)
    query, key, value = qkv[positions].permute(2, 0, 3, 1, 4)  # each (sequences, heads, longest, size)
    weights = _weights(query, key, mask) * _dropout_factors(query, longest, dropout, seeds)
    return (weights @ value).transpose(1, 2)[mask], no_log_sums(qkv), seeds


def backward(grad: Tensor, qkv: Tensor, saved: Saved, offsets: Tensor, longest: int, dropout: float) -> Tensor:
    """Gradient of qkv (tokens, 3, heads, size) from that of the output (tokens, heads, size)."""
    mask, positions = _layout(qkv, offsets, longest)
    query, key, value = qkv[positions].permute(2, 0, 3, 1, 4)
    grad_out = grad[positions].transpose(1, 2) * mask[:, None, :, None]
    weights, factors = _weights(query, key, mask), _dropout_factors(query, longest, dropout, saved[2])
    grad_weights = (grad_out @ value.transpose(2, 3)) * factors
    row_sums = (grad_weights * weights).sum(3, keepdim=True)
    grad_scores = weights * (grad_weights - row_sums) * query.shape[3] ** -0.5
    grad_value = (weights * factors).transpose(2, 3) @ grad_out
    grads = (grad_scores @ key, grad_scores.transpose(2, 3) @ query, grad_value)
    return torch.stack(grads).permute(1, 3, 0, 2, 4)[mask]


def dropout_seeds(qkv: Tensor, dropout: float) -> Tensor:
    """Two random seeds for dropout; zeros without dropout."""
    device = qkv.device
    seeds = torch.randint(1 << 62, (2,), device=device) if dropout else torch.zeros(2, dtype=torch.int64, device=device)
    return seeds.view(torch.uint64)


def no_log_sums(qkv: Tensor) -> Tensor:
    """Placeholder for backends that recompute the log-sum-exp in the backward pass."""
    return qkv.new_zeros((qkv.shape[2], len(qkv)), dtype=torch.float32)


def _layout(qkv: Tensor, offsets: Tensor, longest: int) -> tuple[Tensor, Tensor]:
    """Mask and positions of the tokens of each sequence: (sequences, longest)."""
    steps = torch.arange(longest, device=qkv.device)
    return steps < offsets.diff()[:, None], (offsets[:-1, None] + steps).clamp(max=len(qkv) - 1)


def _weights(query: Tensor, key: Tensor, mask: Tensor) -> Tensor:
    scores = (query @ key.transpose(2, 3)) * query.shape[3] ** -0.5
    weights: Tensor = scores.masked_fill(~mask[:, None, None], float("-inf")).softmax(3)
    return weights


def _dropout_factors(query: Tensor, longest: int, dropout: float, seeds: Tensor) -> Tensor | float:
    """The factor of each weight: 0 where it is dropped."""
    if not dropout:
        return 1.0
    generator = torch.Generator(query.device).manual_seed(int(seeds.view(torch.int64)[0]))
    random = torch.rand((*query.shape[:2], longest, longest), generator=generator, device=query.device)
    return (random >= dropout).to(query.dtype) / (1 - dropout)
