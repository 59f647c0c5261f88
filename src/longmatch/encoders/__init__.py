"""Pretrained backbones, token-budget batches, and reductions over ragged arrays."""

import os

# Read when torch loads, which this package does next: threads that wait must not spin beside another busy process.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
