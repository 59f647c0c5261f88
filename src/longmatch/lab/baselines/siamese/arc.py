"""ARC-I: Hu et al., Convolutional Neural Network Architectures for Matching Natural Language Sentences, NIPS 2014."""

from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from longmatch.lab.baselines.siamese.batch import TextBatch
from longmatch.lab.baselines.siamese.config import VectorConfig
from longmatch.lab.baselines.siamese.embeddings import FromEmbeddings, TokenEmbeddings
from longmatch.lab.baselines.siamese.encoder import VectorModel, VectorOutput
from longmatch.lab.encoders.ragged import offsets_of, segment_ids, segment_max

SLOT = 4  # tokens per row of the last layer: rows are pooled by two, twice


class ArcConfig(VectorConfig):
    """Three convolutions over windows of three, as in CoLDE's comparison; `channels` feature maps each."""

    model_type = "longmatch-arc-i"

    def __init__(
        self,
        vocabulary: int = 30_522,
        word_width: int = 384,
        channels: int = 256,
        vector_width: int = 256,
        dropout: float = 0.1,
        **others: Any,
    ) -> None:
        self.vocabulary, self.word_width = vocabulary, word_width
        self.channels, self.vector_width, self.dropout = channels, vector_width, dropout
        super().__init__(**others)


class ArcModel(FromEmbeddings, VectorModel):
    """Two rounds of convolution and max-pooling by two, a third convolution, and a maximum over the document.

    The paper reads sentences of fixed length and ends in dense layers over both; for documents of any length the last
    pooling is over all positions, and a linear layer yields the vector that the cosine compares. Positions outside a
    document count as zero (the paper's gate): documents are concatenated into one long row, with gaps between them.
    """

    config_class = ArcConfig

    def __init__(self, config: ArcConfig) -> None:
        super().__init__(config)
        sizes = (config.word_width, config.channels, config.channels, config.channels)
        self.words = TokenEmbeddings(config.vocabulary, config.word_width, config.dropout)
        self.layers = nn.ModuleList(nn.Conv1d(a, b, 3, padding=1) for a, b in pairwise(sizes))
        self.projection = nn.Linear(config.channels, config.vector_width, bias=False)
        self.post_init()

    @property
    def width(self) -> int:
        """The output size of the linear layer."""
        return int(self.config.vector_width)

    def read(self, texts: TextBatch, with_parts: bool) -> VectorOutput:
        """Each value before the last layer is the maximum at one position, and is credited to the sentence there."""
        rows = -(-texts.lengths // SLOT)  # per document, in the last layer
        starts = offsets_of(rows + 1)[:-1]  # with one empty row after each
        position = (SLOT * starts - offsets_of(texts.lengths)[:-1]).repeat_interleave(texts.lengths).to(texts.device)
        position = position + torch.arange(texts.tokens, device=texts.device)  # of each token in the first layer
        real = torch.zeros(int(SLOT * (rows + 1).sum()), dtype=torch.bool, device=texts.device).index_fill(
            0, position, 1
        )
        values = self._features(self.words(texts.ids), position, real)[real.view(-1, SLOT).any(1)]  # (rows, channels)
        offsets = texts.offsets(rows)
        best = segment_max(values, offsets)
        vectors = self.projection(best)
        return VectorOutput(vectors, self._parts(texts, values, best, offsets) if with_parts else None)

    def _features(self, words: Tensor, position: Tensor, real: Tensor) -> Tensor:
        """The last layer over the long row: (positions / SLOT, channels)."""
        row = words.new_zeros(len(real), words.shape[1]).index_copy(0, position, words).T[None]
        for number, layer in enumerate(self.layers):
            if number:
                row, real = nn.functional.max_pool1d(row, 2), real.view(-1, 2).any(1)
            row = layer(row).relu() * real
        return row[0].T

    def _parts(self, texts: TextBatch, values: Tensor, best: Tensor, offsets: Tensor) -> Tensor:
        """Credit each maximum to the sentence of the first position that attains it: (sentences, width)."""
        document = segment_ids(offsets)
        row = torch.arange(len(values), device=values.device)
        reached = torch.where(values == best[document], row[:, None], len(values))
        first_row = torch.full(best.shape, len(values), device=values.device)
        first_row.scatter_reduce_(0, document[:, None].expand_as(reached), reached, "amin")  # (documents, channels)
        first = texts.offsets(texts.lengths)[:-1]
        token = first[:, None] + SLOT * (first_row - offsets[:-1, None])
        sentence = segment_ids(texts.offsets(texts.sentences))[token]
        parts = best.new_zeros(len(texts.sentences), best.shape[1]).scatter(0, sentence, best)
        projected: Tensor = self.projection(parts)
        return projected
