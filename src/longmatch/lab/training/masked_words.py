"""Masked language modelling as in BERT, which SDR and SMITH share: masks, the prediction head, the loss."""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AutoModelForMaskedLM
from transformers.activations import ACT2FN

from longmatch.lab.encoders.checkpoint import open_checkpoint
from longmatch.lab.encoders.flat import FlatTokens
from longmatch.lab.encoders.ragged import offsets_of

IGNORED = -100  # the label of a token that is not masked


def mask_words(
    ids: Tensor,
    real: Tensor,
    mask_token: int,
    vocabulary: int,
    share: float = 0.15,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """Mask a share of the real tokens as BERT does: 80 % by the mask, 10 % by a random token, 10 % unchanged.

    `real` marks the tokens that may be masked (neither padding nor special). Returns the masked ids and the labels:
    the original token where it is masked, IGNORED elsewhere. All random numbers come from `generator`.

    >>> ids = torch.arange(5, 105)
    >>> seeded = torch.Generator().manual_seed(0)
    >>> masked, labels = mask_words(ids, torch.ones(100, dtype=torch.bool), 4, 105, generator=seeded)
    >>> bool((masked[labels == IGNORED] == ids[labels == IGNORED]).all()), bool((labels != IGNORED).any())
    (True, True)
    """
    draw = torch.rand(ids.shape, generator=generator)
    fate = torch.rand(ids.shape, generator=generator)
    random = torch.randint(vocabulary, ids.shape, generator=generator)
    chosen = real & (draw.to(ids.device) < share)
    fate, random = fate.to(ids.device), random.to(ids.device)
    masked = torch.where(chosen & (fate < 0.8), mask_token, ids)
    masked = torch.where(chosen & (fate >= 0.8) & (fate < 0.9), random, masked)
    return masked, torch.where(chosen, ids, IGNORED)


def mask_pieces(
    text: FlatTokens, mask_token: int, vocabulary: int, share: float, random: np.random.Generator
) -> tuple[FlatTokens, Tensor]:
    """`mask_words` on pieces laid out flat, except their start and end tokens: masked pieces and labels (tokens,)."""
    ends = offsets_of(text.lengths)
    real = torch.ones(len(text.ids), dtype=torch.bool)
    real[ends[:-1]] = real[ends[1:] - 1] = False
    seeded = torch.Generator().manual_seed(int(random.integers(1 << 62)))
    ids, labels = mask_words(text.ids, real, mask_token, vocabulary, share, seeded)
    return replace(text, ids=ids), labels


def masked_word_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean cross-entropy of the masked tokens, 0 if there are none: logits (..., vocabulary), labels (...).

    >>> masked_word_loss(torch.zeros(1, 2, 4), torch.tensor([[3, IGNORED]])).item() == torch.tensor(4.0).log().item()
    True
    """
    rows, words = logits.float().flatten(0, -2), labels.flatten()
    total = nn.functional.cross_entropy(rows, words, ignore_index=IGNORED, reduction="sum")
    return total / (words != IGNORED).sum().clamp(min=1)


class WordHead(nn.Module):
    """BERT's head for masked words: dense layer, activation, layer norm, product with the input embeddings.

    The embeddings are tied to the backbone's: they are passed to each call, and the head stores none.
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
        """Logits from token vectors: (tokens, width) and (vocabulary, size) -> (tokens, vocabulary)."""
        return nn.functional.linear(self.norm(self.activation(self.dense(hidden))), embeddings, self.bias)

    def init_frequencies(self, counts: Tensor) -> None:
        """Initialise the bias with the log frequencies of words, from their counts (vocabulary,) plus one.

        A random head learns the frequencies first, fastest by moving all token vectors in one direction, and sentences
        become similar before anything else is learnt.
        """
        with torch.no_grad():
            self.bias.copy_(((counts + 1) / (counts + 1).sum()).log())

    def load_pretrained(self, name: str) -> bool:
        """Load the head of a checkpoint (folder or hub id); False if it has none of BERT's or RoBERTa's form."""
        try:
            model, report = open_checkpoint(AutoModelForMaskedLM, name, output_loading_info=True)
        except ValueError:  # an architecture without masked language modelling
            return False
        prefix = f"{model.base_model_prefix}."
        state = {key: tensor for key, tensor in model.state_dict().items() if not key.startswith(prefix)}
        if any(key in state for key in report["missing_keys"]):
            return False
        loaded: dict[str, Tensor] = {}
        for key, endings in _ENDINGS.items():
            named = [tensor for name, tensor in state.items() if name.endswith(endings)]
            if named:
                loaded[key] = named[0]
        if {key: x.shape for key, x in loaded.items()} != {key: x.shape for key, x in self.state_dict().items()}:
            return False
        self.load_state_dict(loaded)
        return True


_ENDINGS = {  # our parameters, and how their names end in checkpoints of BERT and RoBERTa
    "dense.weight": ("dense.weight",),
    "dense.bias": ("dense.bias",),
    "norm.weight": ("LayerNorm.weight", "layer_norm.weight"),
    "norm.bias": ("LayerNorm.bias", "layer_norm.bias"),
    "bias": ("predictions.bias", "lm_head.bias"),
}
