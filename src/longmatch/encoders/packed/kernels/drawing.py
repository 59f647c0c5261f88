"""What dropout keeps: drawn from a seed and a number's place alone, so that the way back needs no record of it."""

# mypy: ignore-errors
# ruff: noqa: ANN001, ANN201
import triton
import triton.language as tl


@triton.jit
def mixed(numbers, seed):
    """Each number as if drawn, from 0 to 2^32: the last step of MurmurHash3."""
    found = numbers.to(tl.uint32) * 0x9E3779B1 ^ seed.to(tl.uint32)
    found = (found ^ (found >> 16)) * 0x85EBCA6B
    found = (found ^ (found >> 13)) * 0xC2B2AE35
    return found ^ (found >> 16)


@triton.jit
def kept(rows, columns, share):
    """Which numbers of a tile stay, from what was drawn for its rows and for its columns: one product a number."""
    return ((rows[:, None] ^ columns[None, :]) * 0x9E3779B1) >= tl.cast(share * 4294967296.0, tl.uint32)
