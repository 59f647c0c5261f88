"""How far a backbone can read at once."""

from torch import nn


def positions_of(backbone: nn.Module) -> int | None:
    """The places a backbone has for tokens, special ones counted; None where its positions are not a table.

    RoBERTa and its kin count from the place after that of padding.
    """
    table = getattr(getattr(backbone, "embeddings", None), "position_embeddings", None)
    if table is None:
        return None
    padding = getattr(table, "padding_idx", None)
    return int(table.num_embeddings) - (0 if padding is None else int(padding) + 1)
