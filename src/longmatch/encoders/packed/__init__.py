"""Sequences read one after another in one array, without padding: what a GPU computes."""

from longmatch.encoders.packed.engine import PackedEngine
from longmatch.encoders.packed.reading import packs, pooled, read_packed, tokens_that_fit

__all__ = ["PackedEngine", "packs", "pooled", "read_packed", "tokens_that_fit"]
