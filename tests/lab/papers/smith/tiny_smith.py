"""Tiny random SMITH models over the tiny tokenizer."""

from pathlib import Path
from typing import Any

import torch

from longmatch.lab.encoders.checkpoint import open_tokenizer
from longmatch.lab.papers.smith.encoder import SmithConfig, SmithModel, bert_config
from longmatch.lab.papers.smith.matcher import SmithMatcher


def tiny_smith(vocabulary: int = 800, **settings: Any) -> SmithModel:
    """Two layers and one, 16 wide; its weights are large, so that vectors differ without training."""
    torch.manual_seed(0)
    sizes = {"document_layers": 1, "document_heads": 2, "block_tokens": 16, "max_blocks": 300}
    facts = {**sizes, **settings}
    inner = bert_config(vocabulary, 2, 16, 2, facts["block_tokens"]).to_dict()
    model = SmithModel(SmithConfig(sentence_level=inner, **facts)).eval()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() == 2:
                weight.normal_(std=0.4)
    return model


def tiny_matcher(tokenizer: Path, **settings: Any) -> SmithMatcher:
    """A random matcher in full precision."""
    found = open_tokenizer(str(tokenizer))
    return SmithMatcher(tiny_smith(len(found), **settings), found, "float32")
