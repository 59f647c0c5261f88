"""What SDR trains (section 3.2): a backbone, a head that predicts masked words, and the contrastive loss."""

from typing import Any

import torch
from torch import Tensor, nn
from transformers import PretrainedConfig, PreTrainedModel

from longmatch.lab.encoders.flat import FlatTokens, mean_pool
from longmatch.lab.encoders.packed.bert import forward_packed, pool_packed, uses_packing
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

    def word_logits(self, hidden: Tensor, head_only: bool = False) -> Tensor:
        """Logits over the vocabulary for token vectors: (tokens, width) -> (tokens, vocabulary).

        With `head_only` no gradient reaches the backbone.
        """
        embeddings = self.backbone.get_input_embeddings().weight
        if head_only:
            hidden, embeddings = hidden.detach(), embeddings.detach()
        logits: Tensor = self.words(hidden, embeddings)
        return logits

    def encode_sentences(self, text: FlatTokens) -> Tensor:
        """Sentence vectors, the mean over their tokens, in order: (sentences, width)."""
        if uses_packing(self.backbone):
            return pool_packed(forward_packed(self.backbone, text), text)
        return text.encode_each(lambda ids, mask, _: mean_pool(self(ids, mask), mask))

    def encode_masked(self, text: FlatTokens, labels: Tensor) -> tuple[Tensor, Tensor]:
        """The token vectors (masked, width) and labels (masked,) of the masked words, in no particular order."""
        if uses_packing(self.backbone):
            return forward_packed(self.backbone, text)[labels != IGNORED], labels[labels != IGNORED]
        vectors, words = [], []
        for _, places, mask in text.by_length():
            padded_labels = torch.where(mask, labels[places], IGNORED)
            vectors.append(self(text.ids[places], mask)[padded_labels != IGNORED])
            words.append(padded_labels[padded_labels != IGNORED])
        return torch.cat(vectors), torch.cat(words)


def margin_contrastive_loss(p: Tensor, q: Tensor, labels: Tensor, margin: float = 1.0) -> Tensor:
    """Margin contrastive loss on cosines (Hadsell et al., 2006; SDR equations 1 and 2), averaged over the pairs.

        1 - cos(p, q)                    for a pair from one paragraph (label 1)
        max(0, cos(p, q) - (1 - m))      for a pair from different documents (label 0)

    With m = 1 negatives are pushed to be orthogonal, not opposite; m = 2 pushes them to -1 (section 4.6).
    `p` and `q` are the sentence vectors of the pairs: (pairs, width).

    >>> import torch
    >>> a, b = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
    >>> margin_contrastive_loss(a, b, torch.tensor([1])).item(), margin_contrastive_loss(a, b, torch.tensor([0])).item()
    (1.0, 0.0)
    """
    cosine = nn.functional.cosine_similarity(p.float(), q.float(), dim=1)
    negative = (cosine - (1 - margin)).clamp(min=0)
    return (labels * (1 - cosine) + (1 - labels) * negative).mean()
