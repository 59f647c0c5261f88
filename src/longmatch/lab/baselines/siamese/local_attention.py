"""Sliding-window attention, linear in the number of tokens: Beltagy et al., Longformer, 2020 (section 3.1)."""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad, scaled_dot_product_attention
from transformers import AttentionInterface

NAME = "longmatch_local"
GLOBAL_COLUMNS = 16  # for the one global key: fused kernels want mask widths that are multiples of 16


def local_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    real: Tensor,
    window: int,
    dropout: float = 0.0,
    scale: float | None = None,
) -> Tensor:
    """Every token attends to those at most `window` away and to the first token, which attends to all.

    Query, key and value are (batch, heads, tokens, width); `real` (batch, tokens) is false for padding. Each block of
    `window` queries attends to the keys of the same and both neighbouring blocks, so one banded mask fits all blocks,
    and the work grows linearly with their number.
    """
    settings: dict[str, Any] = {"dropout_p": dropout, "scale": scale}
    batch, heads, tokens, width = query.shape
    mask_all = real[:, None, None]
    if tokens <= window + 1:
        return scaled_dot_product_attention(query, key, value, attn_mask=mask_all, **settings)
    blocks = -(-tokens // window)
    padding = blocks * window - tokens
    queries = _by_block(pad(query, (0, 0, 0, padding)), window, window)
    keys, values = (
        torch.cat([_by_block(pad(x, (0, 0, window, window + padding)), 3 * window, window), _first(x, blocks)], dim=2)
        for x in (key, value)
    )
    mask = _mask(real, window, padding)
    attended = scaled_dot_product_attention(queries, keys, values, attn_mask=mask, **settings)
    attended = attended.view(batch, blocks, heads, window, width).transpose(1, 2).reshape(batch, heads, -1, width)
    first = scaled_dot_product_attention(query[:, :, :1], key, value, attn_mask=mask_all, **settings)
    return torch.cat([first, attended[:, :, 1:tokens]], dim=2)


def _by_block(states: Tensor, size: int, step: int) -> Tensor:
    """Windows of `size` tokens, one every `step`: (batch, heads, tokens, width) -> (windows, heads, size, width)."""
    runs = states.unfold(2, size, step).permute(0, 2, 1, 4, 3)  # (batch, runs, heads, size, width)
    return runs.reshape(-1, *runs.shape[2:])


def _first(states: Tensor, blocks: int) -> Tensor:
    """The first token of each text, repeated for its blocks and padded to GLOBAL_COLUMNS columns."""
    return pad(states[:, :, :1], (0, 0, 0, GLOBAL_COLUMNS - 1)).repeat_interleave(blocks, dim=0)


def _mask(real: Tensor, window: int, padding: int) -> Tensor:
    """Which keys each query of a block attends to: (blocks, 1, window, 3 * window + GLOBAL_COLUMNS)."""
    near = torch.cat([torch.zeros_like(real[:, :1]), real[:, 1:]], dim=1)  # the first token has its own column
    near = pad(near, (window, window + padding)).unfold(1, 3 * window, window).reshape(-1, 1, 1, 3 * window)
    row = torch.arange(window, device=real.device)[:, None]
    column = torch.arange(3 * window, device=real.device)
    band = (column >= row) & (column <= row + 2 * window)  # the query itself is at column row + window
    first = (torch.arange(GLOBAL_COLUMNS, device=real.device) == 0).expand(len(near), 1, window, GLOBAL_COLUMNS)
    return torch.cat([near & band, first], dim=3)


def _attend(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor,
    scaling: float | None = None,
    dropout: float = 0.0,
    **unused: Any,
) -> tuple[Tensor, None]:
    """The signature of transformers' attention functions; the mask is (batch, 1, 1, tokens)."""
    rate = dropout if module.training else 0.0
    attended = local_attention(query, key, value, attention_mask[:, 0, 0], module.config.local_window, rate, scaling)
    return attended.transpose(1, 2).contiguous(), None


AttentionInterface.register(NAME, _attend)
