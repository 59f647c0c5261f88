"""ARC-I: Hu et al., Convolutional Neural Network Architectures for Matching Natural Language Sentences, NIPS 2014."""

from itertools import pairwise
from typing import Any, Self

import torch
from torch import Tensor, nn

from longmatch.encoders.ragged import offsets_of, segment_ids, segment_max
from longmatch.lab.baselines.siamese.batch import Texts
from longmatch.lab.baselines.siamese.config import VectorConfig
from longmatch.lab.baselines.siamese.encoder import Reading, VectorModel
from longmatch.lab.baselines.siamese.words import Start, Words, first_table

SLOT = 4  # tokens a row of the last layer stands for: two rows become one, twice


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


class ArcModel(VectorModel):
    """Convolution and pooling of two neighbours, twice; a third convolution, whose maxima over the document remain.

    The paper reads sentences of a fixed length and ends in dense layers over both; for documents of any length the last
    pooling is over all places, and a linear layer makes the vector whose cosine decides. What lies outside a document
    counts as nothing (the paper's gate): documents stand in one long row, with room between them.
    """

    config_class = ArcConfig

    def __init__(self, config: ArcConfig) -> None:
        super().__init__(config)
        sizes = (config.word_width, config.channels, config.channels, config.channels)
        self.words = Words(config.vocabulary, config.word_width, config.dropout)
        self.layers = nn.ModuleList(nn.Conv1d(a, b, 3, padding=1) for a, b in pairwise(sizes))
        self.projection = nn.Linear(config.channels, config.vector_width, bias=False)
        self.post_init()

    @classmethod
    def new(
        cls, backbone: str | None, tokenizer: Any, words: Start = "backbone", word_width: int = 384, **settings: Any
    ) -> Self:
        """Begin with the backbone's input embeddings, or with random ones."""
        table = first_table(backbone, tokenizer, words, word_width)
        model = cls(ArcConfig(vocabulary=table.shape[0], word_width=table.shape[1], **settings))
        model.words.table.weight.data.copy_(table)
        return model

    @property
    def width(self) -> int:
        """After the linear layer."""
        return int(self.config.vector_width)

    def read(self, texts: Texts, explained: bool) -> Reading:
        """A number of the vector before the last layer is found at one place: it is that place's sentence's part."""
        rows = -(-texts.lengths // SLOT)  # of each document in the last layer
        starts = offsets_of(rows + 1)[:-1]  # and one row of nothing behind each
        place = (SLOT * starts - offsets_of(texts.lengths)[:-1]).repeat_interleave(texts.lengths).to(texts.device)
        place = place + torch.arange(texts.tokens, device=texts.device)  # of each token in the first layer
        real = torch.zeros(int(SLOT * (rows + 1).sum()), dtype=torch.bool, device=texts.device).index_fill(0, place, 1)
        values = self._features(self.words(texts.ids), place, real)[real.view(-1, SLOT).any(1)]  # (rows, channels)
        offsets = texts.offsets(rows)
        best = segment_max(values, offsets)
        vectors = self.projection(best)
        return Reading(vectors, self._parts(texts, values, best, offsets) if explained else None)

    def _features(self, words: Tensor, place: Tensor, real: Tensor) -> Tensor:
        """The last layer over the one long row: (places / SLOT, channels)."""
        row = words.new_zeros(len(real), words.shape[1]).index_copy(0, place, words).T[None]
        for number, layer in enumerate(self.layers):
            if number:
                row, real = nn.functional.max_pool1d(row, 2), real.view(-1, 2).any(1)
            row = layer(row).relu() * real
        return row[0].T

    def _parts(self, texts: Texts, values: Tensor, best: Tensor, offsets: Tensor) -> Tensor:
        """Each maximum to the sentence in which the first place that reaches it begins: (sentences, width)."""
        document = segment_ids(offsets)
        row = torch.arange(len(values), device=values.device)
        reached = torch.where(values == best[document], row[:, None], len(values))
        found = torch.full(best.shape, len(values), device=values.device)
        found.scatter_reduce_(0, document[:, None].expand_as(reached), reached, "amin")  # (documents, channels)
        first = texts.offsets(texts.lengths)[:-1]
        token = first[:, None] + SLOT * (found - offsets[:-1, None])
        sentence = segment_ids(texts.offsets(texts.sentences))[token]
        parts = best.new_zeros(len(texts.sentences), best.shape[1]).scatter(0, sentence, best)
        out: Tensor = self.projection(parts)
        return out
