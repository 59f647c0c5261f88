"""Sliding-window attention, linear in the number of tokens: Beltagy et al., Longformer, 2020 (section 3.1)."""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad, scaled_dot_product_attention
from transformers import AttentionInterface

NAME = "longmatch_local"
ROOM = 16  # columns for the one key that all see: fused kernels want masks of a multiple of 16


def local_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    real: Tensor,
    window: int,
    dropout: float = 0.0,
    scale: float | None = None,
) -> Tensor:
    """Every token attends to those at most `window` away and to the first, the first to all: as (batch, heads, tokens,
    width) each; `real` (batch, tokens) is false for padding.

    Blocks of `window` queries meet the keys of their own and both neighbouring blocks, so a banded mask of one size
    serves all of them, and what is computed grows with the number of blocks.
    """
    settings: dict[str, Any] = {"dropout_p": dropout, "scale": scale}
    batch, heads, tokens, width = query.shape
    everywhere = real[:, None, None]
    if tokens <= window + 1:
        return scaled_dot_product_attention(query, key, value, attn_mask=everywhere, **settings)
    blocks = -(-tokens // window)
    over = blocks * window - tokens
    queries = _by_block(pad(query, (0, 0, 0, over)), window, window)
    keys, values = (
        torch.cat([_by_block(pad(x, (0, 0, window, window + over)), 3 * window, window), _first(x, blocks)], dim=2)
        for x in (key, value)
    )
    mask = _mask(real, window, over)
    found = scaled_dot_product_attention(queries, keys, values, attn_mask=mask, **settings)
    found = found.view(batch, blocks, heads, window, width).transpose(1, 2).reshape(batch, heads, -1, width)
    first = scaled_dot_product_attention(query[:, :, :1], key, value, attn_mask=everywhere, **settings)
    return torch.cat([first, found[:, :, 1:tokens]], dim=2)


def _by_block(states: Tensor, size: int, step: int) -> Tensor:
    """Runs of `size` tokens, a new one every `step`: (batch, heads, tokens, width) -> (runs, heads, size, width)."""
    runs = states.unfold(2, size, step).permute(0, 2, 1, 4, 3)  # (batch, runs, heads, size, width)
    return runs.reshape(-1, *runs.shape[2:])


def _first(states: Tensor, blocks: int) -> Tensor:
    """The first token of each text for each of its blocks, and empty columns beside it."""
    return pad(states[:, :, :1], (0, 0, 0, ROOM - 1)).repeat_interleave(blocks, dim=0)


def _mask(real: Tensor, window: int, over: int) -> Tensor:
    """What each query of each block may see: (blocks, 1, window, 3 * window + ROOM)."""
    near = torch.cat([torch.zeros_like(real[:, :1]), real[:, 1:]], dim=1)  # the first token stands in its own column
    near = pad(near, (window, window + over)).unfold(1, 3 * window, window).reshape(-1, 1, 1, 3 * window)
    row = torch.arange(window, device=real.device)[:, None]
    column = torch.arange(3 * window, device=real.device)
    band = (column >= row) & (column <= row + 2 * window)  # the query itself stands at column row + window
    first = (torch.arange(ROOM, device=real.device) == 0).expand(len(near), 1, window, ROOM)
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
    """As transformers calls attention; the mask is (batch, 1, 1, tokens), the window in the backbone's config."""
    rate = dropout if module.training else 0.0
    found = local_attention(query, key, value, attention_mask[:, 0, 0], module.config.local_window, rate, scaling)
    return found.transpose(1, 2).contiguous(), None


AttentionInterface.register(NAME, _attend)
