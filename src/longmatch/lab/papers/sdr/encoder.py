"""What SDR trains: a backbone, and a head that says which words were hidden."""

from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoModelForMaskedLM, PretrainedConfig, PreTrainedModel
from transformers.activations import ACT2FN


class WordHead(nn.Module):
    """BERT's head for masked words: dense, activation, layer norm, then the product with the input embeddings.

    The embeddings are the backbone's own, handed over at each call: the head holds none.
    """

    def __init__(self, width: int, embeddings: Tensor, activation: str) -> None:
        super().__init__()
        vocabulary, size = embeddings.shape
        self.dense, self.norm = nn.Linear(width, size), nn.LayerNorm(size, eps=1e-12)
        self.bias = nn.Parameter(embeddings.new_zeros(vocabulary))
        self.activation = ACT2FN[activation]
        nn.init.normal_(self.dense.weight, std=0.02)
        nn.init.zeros_(self.dense.bias)

    def forward(self, hidden: Tensor, embeddings: Tensor) -> Tensor:
        """(tokens, width) and (vocabulary, size) -> (tokens, vocabulary)."""
        return nn.functional.linear(self.norm(self.activation(self.dense(hidden))), embeddings, self.bias)

    def begin_with(self, counts: Tensor) -> None:
        """Start from how often each word occurs (vocabulary,), one added to each.

        A head that knows nothing learns this first, and fastest by moving all token vectors in one direction: sentences
        would become alike before anything else is learnt.
        """
        with torch.no_grad():
            self.bias.copy_(((counts + 1) / (counts + 1).sum()).log())

    def take_over(self, place: str) -> bool:
        """Go on from the head of the checkpoint itself, where it has one of BERT's or RoBERTa's form."""
        try:
            model, report = AutoModelForMaskedLM.from_pretrained(place, dtype=torch.float32, output_loading_info=True)
        except ValueError:  # a kind of model that hides no words
            return False
        prefix = f"{model.base_model_prefix}."
        state = {name: tensor for name, tensor in model.state_dict().items() if not name.startswith(prefix)}
        if any(name in state for name in report["missing_keys"]):
            return False
        found = {own: tensor for own, endings in _ENDINGS.items() if (tensor := _ending(state, endings)) is not None}
        if {name: x.shape for name, x in found.items()} != {name: x.shape for name, x in self.state_dict().items()}:
            return False
        self.load_state_dict(found)
        return True


_ENDINGS = {
    "dense.weight": ("dense.weight",),
    "dense.bias": ("dense.bias",),
    "norm.weight": ("LayerNorm.weight", "layer_norm.weight"),
    "norm.bias": ("LayerNorm.bias", "layer_norm.bias"),
    "bias": ("predictions.bias", "lm_head.bias"),
}


def _ending(state: dict[str, Tensor], endings: tuple[str, ...]) -> Tensor | None:
    return next((tensor for name, tensor in state.items() if name.endswith(endings)), None)


class SdrModel(PreTrainedModel):  # type: ignore[misc]
    """A backbone with a head for masked words; the backbone alone is what training leaves."""

    base_model_prefix = "backbone"

    backbone: Any

    def __init__(self, backbone: Any) -> None:
        super().__init__(PretrainedConfig())  # the backbone keeps its own
        self.backbone = backbone
        embeddings = backbone.get_input_embeddings().weight
        self.words = WordHead(backbone.config.hidden_size, embeddings, getattr(backbone.config, "hidden_act", "gelu"))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """The token vectors of the last layer: (sentences, tokens, width)."""
        hidden: Tensor = self.backbone(input_ids=ids, attention_mask=mask).last_hidden_state
        return hidden

    def say_words(self, hidden: Tensor) -> Tensor:
        """For each token vector (tokens, width), how likely each word of the vocabulary: (tokens, vocabulary)."""
        logits: Tensor = self.words(hidden, self.backbone.get_input_embeddings().weight)
        return logits
