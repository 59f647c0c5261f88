"""HAN: Yang et al., Hierarchical Attention Networks for Document Classification, NAACL 2016."""

from typing import Any, Self

from torch import Tensor

from longmatch.lab.baselines.siamese.batch import Texts
from longmatch.lab.baselines.siamese.config import VectorConfig
from longmatch.lab.baselines.siamese.encoder import Reading, VectorModel
from longmatch.lab.baselines.siamese.levels import Level
from longmatch.lab.baselines.siamese.words import Start, Words, first_table


class HanConfig(VectorConfig):
    """Words of a sentence, then sentences of a document.

    `hidden` is the width of a bidirectional state, at both levels: 256 as in SMITH and CoLDE (the paper, which
    classifies short reviews: 100). `word_width` is that of a table learned anew, else the backbone's own.
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


class HanModel(VectorModel):
    """A GRU and attention over the tokens of each sentence, then over the sentences of the document (section 2.2).

    As a siamese encoder (CoLDE section 4.1.3, SMITH section 5.2.1) the document's vector is compared by its cosine,
    where the paper classifies it.
    """

    config_class: type[VectorConfig] = HanConfig

    def __init__(self, config: HanConfig) -> None:
        super().__init__(config)
        self.words = Words(config.vocabulary, config.word_width, config.dropout)
        self.word_level = Level(config.word_width, config.hidden)
        self.sentence_level = Level(config.hidden, config.hidden)
        self.post_init()

    @classmethod
    def new(
        cls, backbone: str | None, tokenizer: Any, words: Start = "backbone", word_width: int = 384, **settings: Any
    ) -> Self:
        """Begin with the backbone's input embeddings, or with random ones."""
        table: Tensor = first_table(backbone, tokenizer, words, word_width)
        config: Any = cls.config_class(vocabulary=table.shape[0], word_width=table.shape[1], **settings)
        model = cls(config)
        model.words.table.weight.data.copy_(table)
        return model

    @property
    def width(self) -> int:
        """That of a sentence's state."""
        return int(self.config.hidden)

    def read(self, texts: Texts, explained: bool) -> Reading:
        """The document is the sum of its sentences' states, weighed by attention: they are the parts."""
        words = self.word_level(self.words(texts.ids), texts.sentences)
        sentences = self.sentence_level(words.sums, texts.documents[:, 0])
        parts = sentences.weights[:, None] * sentences.states
        return Reading(sentences.sums, parts, sentences.weights, words.weights)
