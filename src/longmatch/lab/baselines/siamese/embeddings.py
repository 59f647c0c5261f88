"""Initial token embeddings, in place of the papers' word vectors."""

from typing import Any, Literal, Self

import torch
from torch import Tensor, nn
from transformers import AutoModel

from longmatch.encoders.pretrained import locate
from longmatch.lab.encoders.checkpoint import open_checkpoint

EmbeddingInit = Literal["backbone", "new"]


class TokenEmbeddings(nn.Module):
    """Token embeddings with layer normalisation and dropout.

    The papers start from GloVe. Here the table is a copy of a pretrained encoder's input embeddings, in their own width
    (384 for the packaged MiniLM), and is trained further. Their values are small and meant to be normalised, hence the
    layer normalisation.
    """

    def __init__(self, vocabulary: int, width: int, dropout: float) -> None:
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)
        self.norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids: Tensor) -> Tensor:
        """Look up tokens: (tokens,) -> (tokens, width)."""
        vectors: Tensor = self.dropout(self.norm(self.table(ids)))
        return vectors


def initial_embeddings(backbone: str | None, tokenizer: Any, init: EmbeddingInit, width: int) -> Tensor:
    """A backbone's input embeddings, or random ones of the given width: (vocabulary, width)."""
    if init == "new":
        return torch.randn(tokenizer.backend_tokenizer.get_vocab_size(), width)
    table: Tensor = open_checkpoint(AutoModel, locate(backbone)).get_input_embeddings().weight
    return table.detach().clone()


class FromEmbeddings:
    """Mixin for models whose `words` are TokenEmbeddings: new models start from given embeddings."""

    config_class: Any
    words: TokenEmbeddings

    @classmethod
    def new(
        cls,
        backbone: str | None,
        tokenizer: Any,
        words: EmbeddingInit = "backbone",
        word_width: int = 384,
        **settings: Any,
    ) -> Self:
        """A new model with the backbone's input embeddings, or with random ones."""
        table = initial_embeddings(backbone, tokenizer, words, word_width)
        model_class: Any = cls
        model: Self = model_class(cls.config_class(vocabulary=table.shape[0], word_width=table.shape[1], **settings))
        model.words.table.weight.data.copy_(table)
        return model
