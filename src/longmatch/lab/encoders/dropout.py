"""The dropout of a backbone: a checkpoint states the one it was pretrained with, which may be none."""

from typing import Any

from torch import nn

KEYS = ("hidden_dropout_prob", "attention_probs_dropout_prob")


def set_dropout(backbone: Any, rate: float | None) -> None:
    """Train a BERT-like backbone with this dropout of states and attention; None leaves its own."""
    if rate is None:
        return
    for key in KEYS:
        setattr(backbone.config, key, rate)
    for module in backbone.modules():
        if isinstance(module, nn.Dropout):
            module.p = rate
