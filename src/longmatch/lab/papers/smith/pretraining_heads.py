"""What SMITH's pre-training adds to the encoder (section 4.2): a head for hidden words, a vector for hidden blocks."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint
from transformers import PreTrainedModel

from longmatch.lab.papers.smith.config import SmithConfig
from longmatch.lab.papers.smith.encoder import SmithModel
from longmatch.lab.training.masked_words import WordHead, masked_word_loss

WORDS = 8_192  # hidden words whose likelihoods over the whole vocabulary are held at a time


class SmithForPretraining(PreTrainedModel):  # type: ignore[misc]
    """The encoder with both heads; the encoder alone is what training leaves."""

    config_class = SmithConfig
    base_model_prefix = "smith"

    def __init__(self, smith: SmithModel) -> None:
        super().__init__(smith.config)
        self.smith = smith
        inner: Any = smith.sentence_level.config
        embeddings = smith.sentence_level.get_input_embeddings().weight
        self.words = WordHead(inner.hidden_size, embeddings, getattr(inner, "hidden_act", "gelu"))
        self.hidden_block = nn.Parameter(nn.functional.normalize(torch.randn(smith.width), dim=0))

    def guess_blocks(self, blocks: Tensor, hidden: Tensor, place: Tensor, counts: Tensor) -> Tensor:
        """What the document level says of the hidden blocks, one learned vector standing in for each of them.

        `hidden` are their numbers: (hidden blocks,).
        """
        shown = blocks.index_copy(0, hidden, self.hidden_block.to(blocks.dtype).expand(len(hidden), -1))
        return self.smith.read_blocks(shown, place, counts).index_select(0, hidden)

    def say_words(self, hidden: Tensor) -> Tensor:
        """For each token vector (tokens, width), how likely each word of the vocabulary: (tokens, vocabulary)."""
        logits: Tensor = self.words(hidden, self.smith.sentence_level.get_input_embeddings().weight)
        return logits

    def word_loss(self, hidden: Tensor, words: Tensor) -> Tensor:
        """The masked-word loss; of very many words some at a time, and worked out again on the way back."""
        if len(words) <= WORDS:
            return masked_word_loss(self.say_words(hidden), words)
        parts = [
            checkpoint(self._sum, h, w, use_reentrant=False)
            for h, w in zip(hidden.split(WORDS), words.split(WORDS), strict=True)
        ]
        return torch.stack(parts).sum() / len(words)

    def _sum(self, hidden: Tensor, words: Tensor) -> Tensor:
        return masked_word_loss(self.say_words(hidden), words) * len(words)
