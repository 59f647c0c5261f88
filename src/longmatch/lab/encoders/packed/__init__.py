"""BERT over packed sequences: concatenated in one array, without padding; used on GPUs."""

from longmatch.lab.encoders.packed.bert import (
    PackedEngine,
    forward_packed,
    forward_rows,
    pool_packed,
    tokens_that_fit,
    uses_packing,
)

__all__ = ["PackedEngine", "forward_packed", "forward_rows", "pool_packed", "tokens_that_fit", "uses_packing"]
