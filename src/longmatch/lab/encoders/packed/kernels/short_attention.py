"""The kernels of short_attention. A program computes one head of one sequence.

`qkv` and its gradient are (tokens, 3, heads, size), `out` and its gradient (tokens, heads, size), all contiguous.
"""

# mypy: ignore-errors
# ruff: noqa: ANN001, ANN201, ANN202
import triton
import triton.language as tl

from longmatch.lab.encoders.packed.kernels.dropout import hashed, keep_mask


@triton.jit
def _layout(offsets, heads, SIZE: tl.constexpr, TILE: tl.constexpr):
    """This program's indices in qkv and in out, which of them are valid, the sequence's length, and the program."""
    program = tl.program_id(0)
    sequence, head = program // heads, program % heads
    start = tl.load(offsets + sequence)
    length = tl.load(offsets + sequence + 1) - start
    rows, columns = tl.arange(0, TILE), tl.arange(0, SIZE)
    tokens = (start + rows).to(tl.int64)[:, None]
    within_head = head * SIZE + columns[None, :]
    valid = (rows < length)[:, None] & (columns < SIZE)[None, :]
    return tokens * (3 * heads * SIZE) + within_head, tokens * (heads * SIZE) + within_head, valid, length, program


@triton.jit
def _weights(query, key, length, scale, TILE: tl.constexpr):
    """softmax(query key^T scale) over valid keys; rows without a query are uniform, and unused."""
    scores = tl.dot(query, tl.trans(key), input_precision="ieee") * scale
    is_key = (tl.arange(0, TILE) < length)[None, :]
    scores = tl.where(is_key, scores, float("-inf"))
    exponentials = tl.exp(scores - tl.max(scores, 1)[:, None])
    return exponentials / tl.sum(exponentials, 1)[:, None]


@triton.jit
def _dropout_factors(seeds, dropout, program, TILE: tl.constexpr, HAS_DROPOUT: tl.constexpr):
    """The factor of grad_weights weight: 0 where it is dropped."""
    factors = tl.full((TILE, TILE), 1.0, tl.float32)
    if HAS_DROPOUT:
        seed, numbers = tl.load(seeds), tl.arange(0, TILE)
        keep = keep_mask(hashed(program * TILE + numbers, seed), hashed(numbers, seed ^ 0x5BD1E995), dropout)
        factors = tl.where(keep, 1.0 / (1.0 - dropout), 0.0)
    return factors


@triton.jit
def short_forward(
    qkv, out, offsets, seeds, scale, dropout, heads,
    SIZE: tl.constexpr, TILE: tl.constexpr, HAS_DROPOUT: tl.constexpr,
):  # fmt: skip
    """One head of one sequence."""
    source, target, valid, length, program = _layout(offsets, heads, SIZE, TILE)
    query = tl.load(qkv + source, mask=valid, other=0.0)
    key = tl.load(qkv + heads * SIZE + source, mask=valid, other=0.0)
    value = tl.load(qkv + 2 * heads * SIZE + source, mask=valid, other=0.0)
    weights = _weights(query, key, length, scale, TILE) * _dropout_factors(seeds, dropout, program, TILE, HAS_DROPOUT)
    attended = tl.dot(weights.to(value.dtype), value, input_precision="ieee")
    tl.store(out + target, attended.to(value.dtype), mask=valid)


@triton.jit
def short_backward(
    qkv, grad, grad_qkv, offsets, seeds, scale, dropout, heads,
    SIZE: tl.constexpr, TILE: tl.constexpr, HAS_DROPOUT: tl.constexpr,
):  # fmt: skip
    """Gradient of one head of one sequence."""
    source, target, valid, length, program = _layout(offsets, heads, SIZE, TILE)
    step = heads * SIZE
    query = tl.load(qkv + source, mask=valid, other=0.0)
    key = tl.load(qkv + step + source, mask=valid, other=0.0)
    value = tl.load(qkv + 2 * step + source, mask=valid, other=0.0)
    grad_out = tl.load(grad + target, mask=valid, other=0.0)
    weights = _weights(query, key, length, scale, TILE)
    factors = _dropout_factors(seeds, dropout, program, TILE, HAS_DROPOUT)
    grad_value = tl.dot(tl.trans((weights * factors).to(grad_out.dtype)), grad_out, input_precision="ieee")
    tl.store(grad_qkv + 2 * step + source, grad_value.to(value.dtype), mask=valid)
    grad_weights = tl.dot(grad_out, tl.trans(value), input_precision="ieee") * factors
    grad_scores = (weights * (grad_weights - tl.sum(grad_weights * weights, 1)[:, None]) * scale).to(query.dtype)
    grad_query = tl.dot(grad_scores, key, input_precision="ieee")
    tl.store(grad_qkv + source, grad_query.to(query.dtype), mask=valid)
    grad_key = tl.dot(tl.trans(grad_scores), query, input_precision="ieee")
    tl.store(grad_qkv + step + source, grad_key.to(key.dtype), mask=valid)
