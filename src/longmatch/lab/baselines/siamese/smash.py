"""SMASH RNN: Jiang et al., Semantic Text Matching for Long-Form Documents, WWW 2019."""

from typing import Any

import torch
from torch import Tensor

from longmatch.lab.baselines.siamese.attentive_gru import AttentiveGRU, ContextAttention
from longmatch.lab.baselines.siamese.batch import TextBatch
from longmatch.lab.baselines.siamese.encoder import VectorOutput
from longmatch.lab.baselines.siamese.han import HanConfig, HanModel
from longmatch.lab.encoders.ragged import segment_ids, segment_sum


class SmashConfig(HanConfig):
    """As HAN; `hidden` is the width of one level, and a document's vector has three times that."""

    model_type = "longmatch-smash"

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)  # without its own, transformers would generate an __init__


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
