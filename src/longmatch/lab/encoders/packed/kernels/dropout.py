"""Dropout masks computed from a seed and a position alone, so that the backward pass needs no record of them."""

# mypy: ignore-errors
# ruff: noqa: ANN001, ANN201
import triton
import triton.language as tl


@triton.jit
def hashed(numbers, seed):
    """Pseudo-random 32-bit hash of each number: the final mix of MurmurHash3."""
    bits = numbers.to(tl.uint32) * 0x9E3779B1 ^ seed.to(tl.uint32)
    bits = (bits ^ (bits >> 16)) * 0x85EBCA6B
    bits = (bits ^ (bits >> 13)) * 0xC2B2AE35
    return bits ^ (bits >> 16)


@triton.jit
def keep_mask(rows, columns, dropout):
    """Which elements of a tile are kept, from the hashes of its rows and columns: one multiplication per element."""
    return ((rows[:, None] ^ columns[None, :]) * 0x9E3779B1) >= tl.cast(dropout * 4294967296.0, tl.uint32)
