"""The two programs of short.py. One reads one head of one sequence: tiles of (tokens, size) and (tokens, tokens).

`qkv` and its gradient are (tokens, 3, heads, size), `out` and its gradient (tokens, heads, size), all contiguous.
"""

# mypy: ignore-errors
# ruff: noqa: ANN001, ANN201, ANN202
import triton
import triton.language as tl

from longmatch.encoders.packed.kernels.drawing import kept, mixed


@triton.jit
def _place(offsets, heads, SIZE: tl.constexpr, TILE: tl.constexpr):
    """Where this program's numbers lie: within qkv, within out; which are there; the sequence's length; the head."""
    program = tl.program_id(0)
    sequence, head = program // heads, program % heads
    start = tl.load(offsets + sequence)
    length = tl.load(offsets + sequence + 1) - start
    rows, columns = tl.arange(0, TILE), tl.arange(0, SIZE)
    tokens = (start + rows).to(tl.int64)[:, None]
    inside = head * SIZE + columns[None, :]
    there = (rows < length)[:, None] & (columns < SIZE)[None, :]
    return tokens * (3 * heads * SIZE) + inside, tokens * (heads * SIZE) + inside, there, length, program


@triton.jit
def _weights(query, key, length, scale, TILE: tl.constexpr):
    """softmax(query key^T scale) over the keys that are there; rows without a query are even, and used by nothing."""
    scores = tl.dot(query, tl.trans(key), input_precision="ieee") * scale
    is_key = (tl.arange(0, TILE) < length)[None, :]
    scores = tl.where(is_key, scores, float("-inf"))
    raised = tl.exp(scores - tl.max(scores, 1)[:, None])
    return raised / tl.sum(raised, 1)[:, None]


@triton.jit
def _kept(drawn, dropout, program, TILE: tl.constexpr, DROPS: tl.constexpr):
    """By what each weight is multiplied: 0 for those that are dropped."""
    factors = tl.full((TILE, TILE), 1.0, tl.float32)
    if DROPS:
        seed, numbers = tl.load(drawn), tl.arange(0, TILE)
        stays = kept(mixed(program * TILE + numbers, seed), mixed(numbers, seed ^ 0x5BD1E995), dropout)
        factors = tl.where(stays, 1.0 / (1.0 - dropout), 0.0)
    return factors


@triton.jit
def short_forward(
    qkv, out, offsets, drawn, scale, dropout, heads,
    SIZE: tl.constexpr, TILE: tl.constexpr, DROPS: tl.constexpr,
):  # fmt: skip
    """One head of one sequence."""
    source, target, there, length, program = _place(offsets, heads, SIZE, TILE)
    query = tl.load(qkv + source, mask=there, other=0.0)
    key = tl.load(qkv + heads * SIZE + source, mask=there, other=0.0)
    value = tl.load(qkv + 2 * heads * SIZE + source, mask=there, other=0.0)
    weights = _weights(query, key, length, scale, TILE) * _kept(drawn, dropout, program, TILE, DROPS)
    found = tl.dot(weights.to(value.dtype), value, input_precision="ieee")
    tl.store(out + target, found.to(value.dtype), mask=there)


@triton.jit
def short_backward(
    qkv, grad, found, offsets, drawn, scale, dropout, heads,
    SIZE: tl.constexpr, TILE: tl.constexpr, DROPS: tl.constexpr,
):  # fmt: skip
    """The same way back."""
    source, target, there, length, program = _place(offsets, heads, SIZE, TILE)
    step = heads * SIZE
    query = tl.load(qkv + source, mask=there, other=0.0)
    key = tl.load(qkv + step + source, mask=there, other=0.0)
    value = tl.load(qkv + 2 * step + source, mask=there, other=0.0)
    above = tl.load(grad + target, mask=there, other=0.0)
    weights = _weights(query, key, length, scale, TILE)
    factors = _kept(drawn, dropout, program, TILE, DROPS)
    for_value = tl.dot(tl.trans((weights * factors).to(above.dtype)), above, input_precision="ieee")
    tl.store(found + 2 * step + source, for_value.to(value.dtype), mask=there)
    each = tl.dot(above, tl.trans(value), input_precision="ieee") * factors
    scores = (weights * (each - tl.sum(each * weights, 1)[:, None]) * scale).to(query.dtype)
    for_query = tl.dot(scores, key, input_precision="ieee")
    tl.store(found + source, for_query.to(query.dtype), mask=there)
    for_key = tl.dot(tl.trans(scores), query, input_precision="ieee")
    tl.store(found + step + source, for_key.to(key.dtype), mask=there)
