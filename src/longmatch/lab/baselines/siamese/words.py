"""Token embeddings to begin with, in place of the papers' word vectors."""

from typing import Any, Literal

import torch
from torch import Tensor, nn
from transformers import AutoModel

from longmatch.encoders.pretrained import locate

Start = Literal["backbone", "new"]


class Words(nn.Module):
    """A table of token vectors, brought to one scale and thinned out in training.

    The papers begin with GloVe. Here the table is a copy of a pretrained encoder's input embeddings, in their own width
    (384 for the packaged MiniLM; the first layer above projects it), and learns on. They are small numbers, meant to
    be normalised, so a layer normalisation follows.
    """

    def __init__(self, vocabulary: int, width: int, dropout: float) -> None:
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)
        self.norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids: Tensor) -> Tensor:
        """(tokens,) -> (tokens, width)"""
        found: Tensor = self.dropout(self.norm(self.table(ids)))
        return found


def first_table(backbone: str | None, tokenizer: Any, start: Start, width: int) -> Tensor:
    """The table to begin with: a backbone's input embeddings, or random ones of a width: (vocabulary, width)."""
    if start == "new":
        return torch.randn(tokenizer.backend_tokenizer.get_vocab_size(), width)
    table: Tensor = AutoModel.from_pretrained(locate(backbone), dtype=torch.float32).get_input_embeddings().weight
    return table.detach().clone()
