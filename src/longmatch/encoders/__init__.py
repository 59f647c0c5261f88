"""Pretrained backbones, token-budget batches, and reductions over ragged arrays."""

import os

# Read when torch loads, which this package does next.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # threads that wait must not spin beside another busy process
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")  # what is kept for a product of one size, about 1 MB:
os.environ.setdefault("LRU_CACHE_CAPACITY", "16")  # batches have a thousand sizes, and torch would keep all of them
