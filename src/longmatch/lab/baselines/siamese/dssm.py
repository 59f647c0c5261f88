"""DSSM: Huang et al., Learning Deep Structured Semantic Models for Web Search using Clickthrough Data, CIKM 2013.

Its letter trigrams are those of tokenised text. A token's letters are its text in the vocabulary, lower-cased, without
the tokenizer's marks (##, Ġ, ▁). Adjacent tokens without a gap form one word, but any character that is neither letter
nor digit also ends a word: "don't" is read as don and t. As in the paper, word boundaries count: #good# has the
trigrams #go, goo, ood, od#. So every letter is the middle of one trigram, and only the tokens are needed, not the text.
"""

from itertools import pairwise
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from longmatch.lab.baselines.siamese.encoder import TextBatch, VectorConfig, VectorModel, VectorOutput
from longmatch.lab.encoders.ragged import offsets_of

BOUNDARY = 0  # before the first and after the last letter of a word
FACTOR, PRIME = 1_000_003, 2_147_483_647


class DssmConfig(VectorConfig):
    """Widths as in the paper: 30 thousand trigrams, 300, 300, 128.

    The paper numbers every trigram that occurs; here trigrams are hashed into `buckets`, so that any alphabet fits.
    `vocabulary` and `letters` are the sizes of the tables of the tokens' letters.
    """

    model_type = "longmatch-dssm"
    vocabulary: int = 30_522
    letters: int = 0
    buckets: int = 30_000
    hidden: int = 300
    vector_width: int = 128


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
        return torch.as_tensor(self.trigrams(numbers, starts, per_sample_weights=weights))

    def _layers(self, sums: Tensor) -> Tensor:
        hidden = torch.tanh(sums + self.bias)
        for layer in self.layers:
            hidden = torch.tanh(layer(hidden))
        return hidden


def token_letters(tokenizer: Any) -> tuple[Tensor, Tensor]:
    """The concatenated letters of all tokens of a vocabulary, and their offsets: (letters,), (vocabulary + 1,)."""
    special = set(tokenizer.all_special_ids)
    size = tokenizer.backend_tokenizer.get_vocab_size()
    texts = []
    for number, token in enumerate(tokenizer.convert_ids_to_tokens(list(range(size)))):
        plain = str(tokenizer.convert_tokens_to_string([token])).removeprefix("##").strip().lower()
        texts.append("" if number in special else plain)
    letters = [ord(letter) if letter.isalnum() else BOUNDARY for text in texts for letter in text]
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts])])
    return torch.tensor(letters, dtype=torch.int32), torch.from_numpy(offsets.astype(np.int32))


def trigrams(texts: TextBatch, letters: Tensor, offsets: Tensor, buckets: int) -> tuple[Tensor, Tensor]:
    """The trigrams of documents, hashed into `buckets`, and the sentence of each: (trigrams,) twice."""
    counts = offsets.diff()[texts.ids].long()
    token = torch.repeat_interleave(counts)  # of each letter
    within = torch.arange(len(token), device=token.device) - (counts.cumsum(0) - counts)[token]
    middle = letters[offsets[texts.ids][token] + within].long()
    word = texts.word_starts.cumsum(0)[token]
    joined = (word[1:] == word[:-1]).long()
    none = middle.new_zeros(1)
    before = torch.cat([none, middle[:-1] * joined])[: len(middle)]
    after = torch.cat([middle[1:] * joined, none])[: len(middle)]
    number = ((before * FACTOR + middle) * FACTOR + after) % PRIME % buckets
    sentence = torch.repeat_interleave(texts.sentences.to(token.device))[token]
    real = middle != BOUNDARY
    return number[real], sentence[real]
