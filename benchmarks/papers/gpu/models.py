"""MiniLM, and the operations a BERT needs."""

from typing import Any

import torch
from torch import Tensor

from benchmarks.papers.gpu.workload import VOCABULARY, Sizes
from longmatch.errors import LongmatchError
from longmatch.lab.encoders.backbone import TorchBackbone

MINILM: dict[str, Any] = {
    "hidden_size": 384,
    "num_hidden_layers": 6,
    "num_attention_heads": 12,
    "intermediate_size": 1536,
}


def minilm(sizes: Sizes) -> tuple[Any, str]:
    """The packaged model or, where it is not installed, random weights of its size; and what it is."""
    from transformers import BertConfig, BertModel

    try:
        model: Any = TorchBackbone.load(device="cpu", precision="float32").model
        kind = "all-MiniLM-L6-v2"
    except LongmatchError:
        torch.manual_seed(0)
        model, kind = BertModel(BertConfig(vocab_size=VOCABULARY, **MINILM)), "random weights of MiniLM's sizes"
    if sizes.layers:
        model.encoder.layer = model.encoder.layer[: sizes.layers]
        model.config.num_hidden_layers = sizes.layers
    return model, kind


def forward_work(encoder: Any, config: Any, lengths: Tensor) -> float:
    """Floating point operations of a forward pass over sequences of these lengths."""
    weights = sum(parameter.numel() for parameter in encoder.parameters() if parameter.dim() == 2)
    tokens = lengths.double()
    pairs = 4 * config.num_hidden_layers * config.hidden_size * (tokens**2).sum()
    return float(2 * weights * tokens.sum() + pairs)
