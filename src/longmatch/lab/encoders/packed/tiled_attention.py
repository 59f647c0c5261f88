"""Tiled attention for sequences of more than 64 tokens and small heads: our own Triton kernels.

The forward pass is slightly faster than torch's flash kernels for small heads. In the backward pass one program
computes one head of one sequence, so that the gradient has the layout the next product needs, and results are
deterministic.
"""

import math

import torch
from torch import Tensor

from longmatch.lab.encoders.packed.plain_attention import Saved, dropout_seeds

MAX_TOKENS, HEAD_SIZES = 512, (16, 32)  # beyond these flash_attention is faster
FORWARD_TILE, BACKWARD_TILE = (128, 32), (32, 128)  # queries and keys


def forward(qkv: Tensor, offsets: Tensor, longest: int, dropout: float) -> Saved:
    """(tokens, 3, heads, size) -> (tokens, heads, size)."""
    from longmatch.lab.encoders.packed.kernels.tiled_attention import tiled_forward

    tokens, _, heads, size = qkv.shape
    out, seeds = qkv.new_empty((tokens, heads, size)), dropout_seeds(qkv, dropout)
    log_sums = qkv.new_empty((heads, tokens), dtype=torch.float32)
    arguments = (qkv, out, log_sums, offsets, seeds.view(torch.int64), _scale(size), dropout, heads, tokens)
    grid = ((len(offsets) - 1) * heads, -(-longest // FORWARD_TILE[0]))
    tiled_forward[grid](*arguments, size, *FORWARD_TILE, dropout > 0, num_warps=4)
    return out, log_sums, seeds


def backward(grad: Tensor, qkv: Tensor, saved: Saved, offsets: Tensor, longest: int, dropout: float) -> Tensor:
    """Gradient of qkv (tokens, 3, heads, size) from that of the output (tokens, heads, size)."""
    from longmatch.lab.encoders.packed.kernels.tiled_attention import tiled_backward

    (tokens, _, heads, size), (out, log_sums, seeds) = qkv.shape, saved
    grad_qkv, row_sums = torch.empty_like(qkv), torch.empty_like(log_sums)
    grad_queries = torch.empty_like(grad, dtype=torch.float32)
    inputs = (qkv, out, grad, log_sums, offsets, seeds.view(torch.int64))
    arguments = (*inputs, row_sums, grad_queries, grad_qkv, _scale(size), dropout)
    grid = ((len(offsets) - 1) * heads,)
    tiled_backward[grid](*arguments, heads, tokens, size, *BACKWARD_TILE, dropout > 0, num_warps=4, num_stages=3)
    return grad_qkv


def _scale(size: int) -> float:
    """The factor of scores, for powers of 2 instead of e."""
    return math.log2(math.e) / math.sqrt(size)
