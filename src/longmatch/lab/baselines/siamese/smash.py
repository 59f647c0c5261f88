"""SMASH RNN: Jiang et al., Semantic Text Matching for Long-Form Documents, WWW 2019."""

from typing import Any

import torch
from torch import Tensor

from longmatch.encoders.ragged import segment_ids, segment_sum
from longmatch.lab.baselines.siamese.batch import Texts
from longmatch.lab.baselines.siamese.encoder import Reading
from longmatch.lab.baselines.siamese.han import HanConfig, HanModel
from longmatch.lab.baselines.siamese.levels import Attention, Level


class SmashConfig(HanConfig):
    """As HAN; `hidden` is the width of one depth, a document's vector three times that."""

    model_type = "longmatch-smash"

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)  # transformers would write another for a class without one


class SmashModel(HanModel):
    """HAN with paragraphs between sentences and document, and the document told at all three depths together:

    - its words, weighed by attention;
    - its sentences, read one after another (HAN);
    - its paragraphs, whose sentences are read one after another and then the paragraphs.

    The depths share the reading of words; above it each has a GRU of its own. The word GRU reads sentence by sentence
    at every depth, where one over the whole document would take thousands of steps. Where the paper puts both documents
    through dense layers, the cosine decides, as in the papers that compare with it.
    """

    config_class = SmashConfig

    def __init__(self, config: SmashConfig) -> None:
        super().__init__(config)
        width = config.hidden
        self.document_words = Attention(width)
        self.paragraph_sentences = Level(width, width)
        self.paragraph_level = Level(width, width)
        self.post_init()

    @property
    def width(self) -> int:
        """Three depths."""
        return 3 * int(self.config.hidden)

    def read(self, texts: Texts, explained: bool) -> Reading:
        """What a paragraph brings is its sentences' as far as they weigh in it."""
        words = self.word_level(self.words(texts.ids), texts.sentences)
        word_weights, whole = self.document_words(words.states, texts.offsets(texts.lengths))
        sentences = self.sentence_level(words.sums, texts.documents[:, 0])
        inner = self.paragraph_sentences(words.sums, texts.paragraphs)
        paragraphs = self.paragraph_level(inner.sums, texts.documents[:, 1])
        vectors = torch.cat([whole, sentences.sums, paragraphs.sums], dim=1)
        if not explained:
            return Reading(vectors)
        home = segment_ids(texts.offsets(texts.paragraphs))  # the paragraph of each sentence
        own = texts.offsets(texts.sentences)
        by_paragraph = inner.weights * paragraphs.weights[home]
        parts = [
            segment_sum(word_weights[:, None] * words.states, own),
            sentences.weights[:, None] * sentences.states,
            by_paragraph[:, None] * paragraphs.states[home],
        ]
        by_word: Tensor = segment_sum(word_weights[:, None], own)[:, 0]
        weights = (by_word + sentences.weights + by_paragraph) / 3
        return Reading(vectors, torch.cat(parts, dim=1), weights, words.weights)
