"""Networks over token embeddings: ARC-I, HAN and SMASH.

ARC-I: Hu et al., Convolutional Neural Network Architectures for Matching Natural Language Sentences, NIPS 2014.
HAN: Yang et al., Hierarchical Attention Networks for Document Classification, NAACL 2016.
SMASH RNN: Jiang et al., Semantic Text Matching for Long-Form Documents, WWW 2019.
"""

from itertools import pairwise
from typing import Any, Literal, NamedTuple, Self

import torch
from torch import Tensor, nn
from transformers import AutoModel

from longmatch.encoders.pretrained import locate
from longmatch.lab.baselines.siamese.encoder import TextBatch, VectorConfig, VectorModel, VectorOutput
from longmatch.lab.encoders.checkpoint import open_checkpoint
from longmatch.lab.encoders.ragged import (
    PackedOrder,
    offsets_of,
    segment_ids,
    segment_max,
    segment_softmax,
    segment_sum,
)

EmbeddingInit = Literal["backbone", "new"]
SLOT = 4  # tokens per row of the last layer: rows are pooled by two, twice


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
        return torch.as_tensor(self.dropout(self.norm(self.table(ids))))


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
        if words == "new":
            table = torch.randn(tokenizer.backend_tokenizer.get_vocab_size(), word_width)
        else:
            table = open_checkpoint(AutoModel, locate(backbone)).get_input_embeddings().weight.detach()
        model_class: Any = cls
        model: Self = model_class(cls.config_class(vocabulary=table.shape[0], word_width=table.shape[1], **settings))
        model.words.table.weight.data.copy_(table)
        return model


class AttendedRuns(NamedTuple):
    """The output for runs of rows: a state and a weight per row, and the weighted sum of each run."""

    states: Tensor  # (rows, width)
    weights: Tensor  # (rows,) sum to 1 over a run
    sums: Tensor  # (runs, width)


class ContextAttention(nn.Module):
    """Yang et al. 2016, equations 5 to 7: a state's weight is the softmax of tanh(W h + b) times a learned vector.

    >>> weights, sums = ContextAttention(4)(torch.randn(3, 4), torch.tensor([0, 2, 3]))
    >>> weights.shape, sums.shape, round(weights[2].item(), 4)
    (torch.Size([3]), torch.Size([2, 4]), 1.0)
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(width, width)
        self.context = nn.Linear(width, 1, bias=False)

    def forward(self, states: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor]:
        """The weights within each run, and the weighted sums: (rows,), (runs, width)."""
        weights = segment_softmax(self.context(torch.tanh(self.hidden(states))), offsets)  # (rows, 1)
        return weights[:, 0], segment_sum(weights * states, offsets)


class AttentiveGRU(nn.Module):
    """A bidirectional GRU over each run of rows, then attention over its states."""

    def __init__(self, width_in: int, width: int) -> None:
        super().__init__()
        self.recurrence = nn.GRU(width_in, width // 2, bidirectional=True)
        self.attention = ContextAttention(width)

    def forward(self, rows: Tensor, lengths: Tensor) -> AttendedRuns:
        """Encode rows (rows, width_in) in runs of the given lengths (on the CPU)."""
        order = PackedOrder.of(offsets_of(lengths))
        states = order.unpack(self.recurrence(order.pack(rows))[0])
        return AttendedRuns(states, *self.attention(states, offsets_of(lengths).to(rows.device)))


class ArcConfig(VectorConfig):
    """Three convolutions over windows of three, as in CoLDE's comparison; `channels` feature maps each."""

    model_type = "longmatch-arc-i"
    vocabulary: int = 30_522
    word_width: int = 384
    channels: int = 256
    vector_width: int = 256
    dropout: float = 0.1


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

    def read(self, texts: TextBatch, with_parts: bool) -> VectorOutput:
        """Each value before the last layer is the maximum at one position, and is credited to the sentence there."""
        rows = -(-texts.lengths // SLOT)  # per document, in the last layer
        starts = offsets_of(rows + 1)[:-1]  # with one empty row after each
        position = (SLOT * starts - offsets_of(texts.lengths)[:-1]).repeat_interleave(texts.lengths).to(texts.device)
        position = position + torch.arange(texts.tokens, device=texts.device)  # of each token in the first layer
        real = torch.zeros(int(SLOT * (rows + 1).sum()), dtype=torch.bool, device=texts.device).index_fill(
            0, position, 1
        )
        words, kept = self.words(texts.ids), real.view(-1, SLOT).any(1)
        row = words.new_zeros(len(real), words.shape[1]).index_copy(0, position, words).T[None]
        for number, layer in enumerate(self.layers):
            if number:
                row, real = nn.functional.max_pool1d(row, 2), real.view(-1, 2).any(1)
            row = layer(row).relu() * real
        values = row[0].T[kept]  # (rows, channels)
        offsets = texts.offsets(rows)
        best = segment_max(values, offsets)
        vectors = self.projection(best)
        return VectorOutput(vectors, self._parts(texts, values, best, offsets) if with_parts else None)

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
        return torch.as_tensor(self.projection(parts))


class HanConfig(VectorConfig):
    """Attention over the words of a sentence, then over the sentences of a document.

    `hidden` is the width of a bidirectional state, at both levels: 256 as in SMITH and CoLDE (100 in the paper, which
    classifies short reviews). `word_width` applies to new embeddings; the backbone's keep their width.
    """

    model_type = "longmatch-han"
    vocabulary: int = 30_522
    word_width: int = 384
    hidden: int = 256
    dropout: float = 0.1


class HanModel(FromEmbeddings, VectorModel):
    """A GRU and attention over the tokens of each sentence, then over the sentences of the document (section 2.2).

    As a siamese encoder (CoLDE section 4.1.3, SMITH section 5.2.1) documents are compared by the cosine of their
    vectors, where the paper classifies them.
    """

    config_class: type[VectorConfig] = HanConfig

    def __init__(self, config: HanConfig) -> None:
        super().__init__(config)
        self.words = TokenEmbeddings(config.vocabulary, config.word_width, config.dropout)
        self.word_level = AttentiveGRU(config.word_width, config.hidden)
        self.sentence_level = AttentiveGRU(config.hidden, config.hidden)
        self.post_init()

    @property
    def width(self) -> int:
        """The width of a sentence's state."""
        return int(self.config.hidden)

    def read(self, texts: TextBatch, with_parts: bool) -> VectorOutput:
        """The document is the attention-weighted sum of its sentences' states; the terms are the parts."""
        words = self.word_level(self.words(texts.ids), texts.sentences)
        sentences = self.sentence_level(words.sums, texts.documents[:, 0])
        parts = sentences.weights[:, None] * sentences.states
        return VectorOutput(sentences.sums, parts, sentences.weights, words.weights)


class SmashConfig(HanConfig):
    """As HAN; `hidden` is the width of one level, and a document's vector has three times that."""

    model_type = "longmatch-smash"


class SmashModel(HanModel):
    """HAN with a paragraph level; the document vector concatenates three levels:

    - its words, weighted by attention;
    - its sentences, in sequence (HAN);
    - its paragraphs, in sequence, each a sequence of sentences.

    The levels share the word GRU; above it each has its own. The word GRU runs sentence by sentence at every level,
    where one over the whole document would take thousands of steps. The paper puts both documents through dense layers;
    here they are compared by cosine, as in the papers that compare with SMASH.
    """

    config_class = SmashConfig

    def __init__(self, config: SmashConfig) -> None:
        super().__init__(config)
        width = config.hidden
        self.document_words = ContextAttention(width)
        self.paragraph_sentences = AttentiveGRU(width, width)
        self.paragraph_level = AttentiveGRU(width, width)
        self.post_init()

    @property
    def width(self) -> int:
        """Three levels."""
        return 3 * int(self.config.hidden)

    def read(self, texts: TextBatch, with_parts: bool) -> VectorOutput:
        """A paragraph's contribution is divided among its sentences by their weights."""
        words = self.word_level(self.words(texts.ids), texts.sentences)
        word_weights, whole = self.document_words(words.states, texts.offsets(texts.lengths))
        sentences = self.sentence_level(words.sums, texts.documents[:, 0])
        inner = self.paragraph_sentences(words.sums, texts.paragraphs)
        paragraphs = self.paragraph_level(inner.sums, texts.documents[:, 1])
        vectors = torch.cat([whole, sentences.sums, paragraphs.sums], dim=1)
        if not with_parts:
            return VectorOutput(vectors)
        home = segment_ids(texts.offsets(texts.paragraphs))  # the paragraph of each sentence
        sentence_offsets = texts.offsets(texts.sentences)
        by_paragraph = inner.weights * paragraphs.weights[home]
        parts = [
            segment_sum(word_weights[:, None] * words.states, sentence_offsets),
            sentences.weights[:, None] * sentences.states,
            by_paragraph[:, None] * paragraphs.states[home],
        ]
        by_word: Tensor = segment_sum(word_weights[:, None], sentence_offsets)[:, 0]
        weights = (by_word + sentences.weights + by_paragraph) / 3
        return VectorOutput(vectors, torch.cat(parts, dim=1), weights, words.weights)
