"""What SDR trains (section 3.2): a backbone, and a head that predicts masked words."""

from typing import Any

import torch
from torch import Tensor
from transformers import PretrainedConfig, PreTrainedModel

from longmatch.lab.encoders.flat import mean_pool
from longmatch.lab.papers.sdr.batch import SentenceBatch
from longmatch.lab.training.masked_words import IGNORED, WordHead


class SdrModel(PreTrainedModel):  # type: ignore[misc]
    """A backbone with a head for masked words; only the backbone is kept after training."""

    base_model_prefix = "backbone"

    backbone: Any

    def __init__(self, backbone: Any) -> None:
        super().__init__(PretrainedConfig())  # the backbone has its own config
        self.backbone = backbone
        embeddings = backbone.get_input_embeddings().weight
        self.words = WordHead(backbone.config.hidden_size, embeddings, getattr(backbone.config, "hidden_act", "gelu"))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """The token vectors of the last layer: (sentences, tokens, width)."""
        hidden: Tensor = self.backbone(input_ids=ids, attention_mask=mask).last_hidden_state
        return hidden

    def word_logits(self, hidden: Tensor) -> Tensor:
        """Logits over the vocabulary for token vectors: (tokens, width) -> (tokens, vocabulary)."""
        logits: Tensor = self.words(hidden, self.backbone.get_input_embeddings().weight)
        return logits

    def encode_batch(self, batch: SentenceBatch) -> tuple[Tensor, Tensor, Tensor]:
        """Sentence vectors in the batch's order (sentences, width), the mean over their tokens; and of the masked
        words, in no particular order, the token vectors (masked, width) and labels (masked,). One pass gives all.
        """
        order, vectors, masked, labels = [], [], [], []
        for rows, places, mask in batch.sentences.by_length():
            states = self(batch.sentences.ids[places], mask)
            padded_labels = torch.where(mask, batch.labels[places], IGNORED)
            order.append(rows)
            vectors.append(mean_pool(states, mask))
            masked.append(states[padded_labels != IGNORED])
            labels.append(padded_labels[padded_labels != IGNORED])
        inverse = torch.cat(order).argsort().to(batch.labels.device)
        return torch.cat(vectors)[inverse], torch.cat(masked), torch.cat(labels)
