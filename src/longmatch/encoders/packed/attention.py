"""Attention within each of many sequences that lie one after another in one array, none of them padded."""

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention


def attend_padded(qkv: Tensor, offsets: Tensor, longest: Tensor, dropout: float = 0.0) -> Tensor:
    """What each token takes from those of its own sequence: (tokens, 3, heads, size) -> (tokens, heads, size).

    The obvious way: padded, and the padding left out again. `offsets` are (sequences + 1,), `longest` the number of
    tokens of the longest sequence, on the CPU.
    """
    steps = torch.arange(int(longest), device=qkv.device)
    mask = steps < offsets.diff()[:, None]  # (sequences, longest)
    places = (offsets[:-1, None] + steps).clamp(max=len(qkv) - 1)
    query, key, value = qkv[places].permute(2, 0, 3, 1, 4)  # each (sequences, heads, longest, size)
    found = scaled_dot_product_attention(query, key, value, attn_mask=mask[:, None, None], dropout_p=dropout)
    return found.transpose(1, 2)[mask]
