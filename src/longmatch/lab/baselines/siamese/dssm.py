"""DSSM: Huang et al., Learning Deep Structured Semantic Models for Web Search using Clickthrough Data, CIKM 2013."""

from itertools import pairwise
from typing import Any, Self

import torch
from torch import Tensor, nn

from longmatch.lab.baselines.siamese.batch import TextBatch
from longmatch.lab.baselines.siamese.config import VectorConfig
from longmatch.lab.baselines.siamese.encoder import VectorModel, VectorOutput
from longmatch.lab.baselines.siamese.trigrams import token_letters, trigrams
from longmatch.lab.encoders.ragged import offsets_of


class DssmConfig(VectorConfig):
    """Widths as in the paper: 30 thousand trigrams, 300, 300, 128.

    The paper numbers every trigram that occurs; here trigrams are hashed into `buckets`, so that any alphabet fits.
    `vocabulary` and `letters` are the sizes of the tables of the tokens' letters.
    """

    model_type = "longmatch-dssm"

    def __init__(
        self,
        vocabulary: int = 30_522,
        letters: int = 0,
        buckets: int = 30_000,
        hidden: int = 300,
        vector_width: int = 128,
        **others: Any,
    ) -> None:
        self.vocabulary, self.letters, self.buckets = vocabulary, letters, buckets
        self.hidden, self.vector_width = hidden, vector_width
        super().__init__(**others)


class DssmModel(VectorModel):
    """A bag of letter trigrams through three dense layers with tanh (section 3).

    The paper's texts are queries and titles, and its bag holds counts. The counts of a long document are all large and
    would saturate tanh, so a trigram that occurs n times weighs log(1 + n), and the bag has length 1. No word vectors
    are needed, and word order is ignored.
    """

    config_class = DssmConfig
    letters: Tensor  # of all tokens, concatenated
    letter_offsets: Tensor  # of the tokens in `letters`

    def __init__(self, config: DssmConfig) -> None:
        super().__init__(config)
        self.register_buffer("letters", torch.zeros(config.letters, dtype=torch.int32))
        self.register_buffer("letter_offsets", torch.zeros(config.vocabulary + 1, dtype=torch.int32))
        self.trigrams = nn.EmbeddingBag(config.buckets, config.hidden, mode="sum")  # the first layer, for sparse input
        self.bias = nn.Parameter(torch.zeros(config.hidden))
        widths = (config.hidden, config.hidden, config.vector_width)
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(widths))
        self.post_init()

    @classmethod
    def new(cls, backbone: str | None, tokenizer: Any, **settings: Any) -> Self:
        """A new model for a tokenizer; the backbone's weights are not used."""
        letters, offsets = token_letters(tokenizer)
        model = cls(DssmConfig(vocabulary=len(offsets) - 1, letters=len(letters), **settings))
        model.letters, model.letter_offsets = letters, offsets
        return model

    @property
    def width(self) -> int:
        """The output size of the third layer."""
        return int(self.config.vector_width)

    def read(self, texts: TextBatch, with_parts: bool) -> VectorOutput:
        """A sentence's part is the change of the vector when the sentence's trigrams are removed."""
        number, sentence = trigrams(texts, self.letters, self.letter_offsets, self.config.buckets)
        key = texts.document_of_sentence[sentence] * self.config.buckets + number
        entries, entry, count = torch.unique(key, return_inverse=True, return_counts=True)
        document = entries // self.config.buckets
        weight = count.log1p()
        length = weight.new_zeros(len(texts)).index_add(0, document, weight**2).sqrt()
        weight = weight / length[document]
        bags = self._bags(entries % self.config.buckets, weight, document, len(texts))
        vectors = self._layers(bags)
        if not with_parts:
            return VectorOutput(vectors)
        removed = self._bags(number, (weight / count)[entry], sentence, len(texts.sentences))
        home = texts.document_of_sentence
        return VectorOutput(vectors, vectors[home] - self._layers(bags[home] - removed))

    def _bags(self, numbers: Tensor, weights: Tensor, owner: Tensor, owners: int) -> Tensor:
        """The first layer's sums over each owner's trigrams, which are contiguous: (owners, hidden)."""
        starts = offsets_of(torch.bincount(owner, minlength=owners))[:-1]
        sums: Tensor = self.trigrams(numbers, starts, per_sample_weights=weights)
        return sums

    def _layers(self, sums: Tensor) -> Tensor:
        hidden = torch.tanh(sums + self.bias)
        for layer in self.layers:
            hidden = torch.tanh(layer(hidden))
        return hidden
