"""Pretrained backbones, token-budget batches, and reductions over ragged arrays."""
