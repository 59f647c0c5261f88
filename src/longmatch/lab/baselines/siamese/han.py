"""HAN: Yang et al., Hierarchical Attention Networks for Document Classification, NAACL 2016."""

from typing import Any

from longmatch.lab.baselines.siamese.attentive_gru import AttentiveGRU
from longmatch.lab.baselines.siamese.batch import TextBatch
from longmatch.lab.baselines.siamese.config import VectorConfig
from longmatch.lab.baselines.siamese.embeddings import FromEmbeddings, TokenEmbeddings
from longmatch.lab.baselines.siamese.encoder import VectorModel, VectorOutput


class HanConfig(VectorConfig):
    """Attention over the words of a sentence, then over the sentences of a document.

    `hidden` is the width of a bidirectional state, at both levels: 256 as in SMITH and CoLDE (100 in the paper, which
    classifies short reviews). `word_width` applies to new embeddings; the backbone's keep their width.
    """

    model_type = "longmatch-han"

    def __init__(
        self,
        vocabulary: int = 30_522,
        word_width: int = 384,
        hidden: int = 256,
        dropout: float = 0.1,
        **others: Any,
    ) -> None:
        self.vocabulary, self.word_width, self.hidden, self.dropout = vocabulary, word_width, hidden, dropout
        super().__init__(**others)


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
