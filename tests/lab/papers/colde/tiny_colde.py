"""Tiny CoLDE models around the tiny random backbones."""

from pathlib import Path
from typing import Any

import torch

from longmatch.lab.encoders.checkpoint import open_tokenizer
from longmatch.lab.papers.colde.encoder import ColdeModel
from longmatch.lab.papers.colde.matcher import ColdeMatcher


def tiny_colde(backbone: Path, **settings: Any) -> ColdeModel:
    """A random model; its section and chunk embeddings are random too, so that they count."""
    torch.manual_seed(0)
    sizes = {"recurrent_width": 16, "projection_width": 8, "chunk_tokens": 48}
    model = ColdeModel.from_backbone(str(backbone), **{**sizes, **settings}).eval()
    if model.config.augmented:
        torch.nn.init.normal_(model.section_embedding.weight)
        torch.nn.init.normal_(model.chunk_embedding.weight)
    return model


def tiny_matcher(backbone: Path, max_tokens: int | None = None, **settings: Any) -> ColdeMatcher:
    """A random matcher in full precision."""
    return ColdeMatcher(tiny_colde(backbone, **settings), open_tokenizer(str(backbone)), max_tokens, "float32")
