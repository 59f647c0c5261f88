"""Tiny baselines with random weights, for the tiny tokenizers."""

from pathlib import Path
from typing import Any

import torch

from longmatch.documents import Document
from longmatch.lab.baselines.siamese.dssm import DssmModel
from longmatch.lab.baselines.siamese.encoder import VectorModel
from longmatch.lab.baselines.siamese.longformer import LongModel
from longmatch.lab.baselines.siamese.matcher import VectorMatcher
from longmatch.lab.baselines.siamese.token_networks import ArcModel, HanModel, SmashModel
from longmatch.lab.encoders.checkpoint import open_tokenizer
from longmatch.units import Tokens, tokenize

KINDS: dict[str, tuple[type[VectorModel], dict[str, Any]]] = {
    "dssm": (DssmModel, {"buckets": 500, "hidden": 16, "vector_width": 8}),
    "arc-i": (ArcModel, {"channels": 12, "vector_width": 8}),
    "han": (HanModel, {"hidden": 12}),
    "smash": (SmashModel, {"hidden": 12}),
    "s-long": (LongModel, {"window": 16, "max_tokens": 4000}),
}


def tiny_model(kind: str, backbone: Path, **settings: Any) -> VectorModel:
    """A random model that does not drop out."""
    torch.manual_seed(0)
    model, sizes = KINDS[kind]
    return model.new(str(backbone), open_tokenizer(str(backbone)), **{**sizes, **settings}).eval()


def tiny_matcher(kind: str, backbone: Path, **settings: Any) -> VectorMatcher:
    """A random matcher in full precision."""
    return VectorMatcher(tiny_model(kind, backbone, **settings), open_tokenizer(str(backbone)), "float32")


def tokens_of(documents: list[Document], backbone: Path) -> list[Tokens]:
    """The documents' tokens."""
    tokenizer = open_tokenizer(str(backbone)).backend_tokenizer
    return [tokenize(document, tokenizer) for document in documents]
