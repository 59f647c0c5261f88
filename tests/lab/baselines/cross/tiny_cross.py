"""Tiny random cross-encoders over the tiny tokenizer."""

from pathlib import Path
from typing import Any

import numpy as np
import torch

from longmatch.documents.document import Document
from longmatch.lab.baselines.cross.encoder import CrossModel
from longmatch.lab.baselines.cross.matcher import CrossMatcher
from longmatch.lab.encoders.checkpoint import open_tokenizer
from longmatch.units import Tokens


def save_learner(backbone: Path, folder: Path) -> Path:
    """A backbone's folder with larger random weights and no dropout: so small a network learns pairs only then."""
    from transformers import AutoModel

    open_tokenizer(str(backbone)).save_pretrained(folder)
    torch.manual_seed(0)
    model = AutoModel.from_pretrained(str(backbone), hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    enlarge(model, 0.2)
    model.save_pretrained(folder)
    return folder


def tiny_cross(backbone: Path, **settings: Any) -> CrossModel:
    """Its weights are large, so that scores differ without training."""
    torch.manual_seed(0)
    model = CrossModel.from_backbone(str(backbone), **settings).eval()
    enlarge(model, 0.3)
    return model


def tiny_matcher(backbone: Path, kind: type[CrossMatcher] = CrossMatcher, **settings: Any) -> CrossMatcher:
    """A random matcher in full precision."""
    return kind(tiny_cross(backbone, **settings), open_tokenizer(str(backbone)), "float32")


def made_tokens(*lengths: int) -> Tokens:
    """Sentences of so many tokens, numbered 100, 101, ... through the document."""
    offsets = np.concatenate([[0], np.cumsum(np.array(lengths, dtype=np.int64))]).astype(np.int64)
    none = np.zeros(0, dtype=np.int64)
    ids = 100 + np.arange(offsets[-1])
    home = np.zeros(len(lengths), dtype=np.int64)
    return Tokens(Document("made", "", "", ()), ids, none, np.ones(len(ids), bool), offsets, none, home, home)


@torch.no_grad()
def enlarge(model: torch.nn.Module, size: float) -> None:
    """Draw all weight matrices anew, with a larger spread."""
    for weight in model.parameters():
        if weight.dim() == 2:
            weight.normal_(std=size)
