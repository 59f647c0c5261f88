"""Position embeddings of BERT-like models: where they start, and how many tokens they cover."""

from typing import Any

from torch import nn


def first_position(model: nn.Module) -> int:
    """The position of the first token: RoBERTa and its relatives start after the padding index, BERT at 0."""
    padding = getattr(_table(model), "padding_idx", None)
    return 0 if padding is None else int(padding) + 1


def max_positions(model: nn.Module) -> int | None:
    """The most tokens a model takes, special tokens included; None without a table of position embeddings."""
    table = _table(model)
    return None if table is None else int(table.num_embeddings) - first_position(model)


def _table(model: nn.Module) -> Any:
    return getattr(getattr(model, "embeddings", None), "position_embeddings", None)
