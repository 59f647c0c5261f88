"""The two programs of tiled.py: attention within sequences of any length, a tile of queries and one of keys at a time.

`qkv` and its gradient are (tokens, 3, heads, size), `out` and its gradient (tokens, heads, size), all contiguous;
`sums`, the logarithms (to base 2) of what the softmax divides by, are (heads, tokens).
"""

# mypy: ignore-errors
# ruff: noqa: ANN001, ANN201, ANN202, PLR0915
import triton
import triton.language as tl

from longmatch.encoders.packed.kernels.drawing import kept, mixed


@triton.jit
def _rows(first, length, TILE: tl.constexpr):
    row = first + tl.arange(0, TILE)
    return row, row < length


@triton.jit
def _tile(source, row, there, step, SIZE: tl.constexpr):
    """(TILE, SIZE) numbers, `step` from row to row."""
    at = row.to(tl.int64)[:, None] * step + tl.arange(0, SIZE)[None, :]
    return tl.load(source + at, mask=there[:, None], other=0.0)


@triton.jit
def tiled_forward(
    qkv, out, sums, offsets, seeds, scale, share, heads, tokens,
    SIZE: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr, DROPS: tl.constexpr,
):  # fmt: skip
    """One tile of queries of one head of one sequence."""
    program, first = tl.program_id(0), tl.program_id(1) * QUERIES
    sequence, head = program // heads, program % heads
    start = tl.load(offsets + sequence)
    length = tl.load(offsets + sequence + 1) - start
    if first < length:
        step = 3 * heads * SIZE
        source = qkv + start.to(tl.int64) * step + head * SIZE
        row, is_query = _rows(first, length, QUERIES)
        query = _tile(source, row, is_query, step, SIZE)
        highest = tl.full((QUERIES,), float("-inf"), tl.float32)
        total = tl.zeros((QUERIES,), tl.float32)
        found = tl.zeros((QUERIES, SIZE), tl.float32)
        if DROPS:
            seed = tl.load(seeds)
            drawn_rows = mixed((start + row) * heads + head, seed)
        for begin in range(0, length, KEYS):
            column, is_key = _rows(begin, length, KEYS)
            key = _tile(source + heads * SIZE, column, is_key, step, SIZE)
            value = _tile(source + 2 * heads * SIZE, column, is_key, step, SIZE)
            scores = tl.dot(query, tl.trans(key), input_precision="ieee") * scale
            scores = tl.where(is_key[None, :], scores, float("-inf"))
            higher = tl.maximum(highest, tl.max(scores, 1))
            raised = tl.exp2(scores - higher[:, None])
            fading = tl.exp2(highest - higher)
            total = total * fading + tl.sum(raised, 1)
            if DROPS:
                raised = tl.where(kept(drawn_rows, mixed(column, seed ^ 0x5BD1E995), share), raised, 0.0)
            found = found * fading[:, None] + tl.dot(raised.to(value.dtype), value, input_precision="ieee")
            highest = higher
        found = found / (total * (1.0 - share))[:, None]
        at = (start + row).to(tl.int64)[:, None] * (heads * SIZE) + head * SIZE + tl.arange(0, SIZE)[None, :]
        tl.store(out + at, found.to(out.dtype.element_ty), mask=is_query[:, None])
        tl.store(sums + head.to(tl.int64) * tokens + start + row, highest + tl.log2(total), mask=is_query)


@triton.jit
def tiled_backward(
    qkv, out, grad, sums, offsets, seeds, alongs, queries, found, scale, share, heads, tokens,
    SIZE: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr, DROPS: tl.constexpr,
):  # fmt: skip
    """One head of one sequence, tile of keys by tile of keys. `queries` (tokens, heads, size) holds, in float32, the
    gradient of the queries as far as it is known; nobody else touches this head's and sequence's part of it.
    """
    program = tl.program_id(0)
    sequence, head = program // heads, program % heads
    start = tl.load(offsets + sequence)
    length = tl.load(offsets + sequence + 1) - start
    step, line = 3 * heads * SIZE, heads * SIZE
    source = qkv + start.to(tl.int64) * step + head * SIZE
    target = found + start.to(tl.int64) * step + head * SIZE
    place = start.to(tl.int64) * line + head * SIZE
    inside = tl.arange(0, SIZE)[None, :]
    if DROPS:
        seed = tl.load(seeds)
    natural = scale * 0.6931471805599453  # scale holds log2(e)
    own = head.to(tl.int64) * tokens + start
    for first in range(0, length, QUERIES):
        row, is_query = _rows(first, length, QUERIES)
        above = _tile(grad + place, row, is_query, line, SIZE).to(tl.float32)
        given = _tile(out + place, row, is_query, line, SIZE).to(tl.float32)
        tl.store(alongs + own + row, tl.sum(above * given, 1), mask=is_query)
    tl.debug_barrier()
    for begin in range(0, length, KEYS):
        column, is_key = _rows(begin, length, KEYS)
        key = _tile(source + line, column, is_key, step, SIZE)
        value = _tile(source + 2 * line, column, is_key, step, SIZE)
        for_key = tl.zeros((KEYS, SIZE), tl.float32)
        for_value = tl.zeros((KEYS, SIZE), tl.float32)
        if DROPS:
            drawn_columns = mixed(column, seed ^ 0x5BD1E995)
        for first in range(0, length, QUERIES):
            row, is_query = _rows(first, length, QUERIES)
            query = _tile(source, row, is_query, step, SIZE)
            above = _tile(grad + place, row, is_query, line, SIZE)
            at = row.to(tl.int64)[:, None] * line + inside
            part = tl.load(queries + place + at, mask=is_query[:, None] & (begin > 0), other=0.0)
            log = tl.load(sums + own + row, mask=is_query, other=float("inf"))
            along = tl.load(alongs + own + row, mask=is_query, other=0.0)
            scores = tl.dot(key, tl.trans(query), input_precision="ieee") * scale
            weights = tl.where(is_key[:, None], tl.exp2(scores - log[None, :]), 0.0)
            each = tl.dot(value, tl.trans(above), input_precision="ieee")
            used = weights
            if DROPS:
                stays = kept(drawn_columns, mixed((start + row) * heads + head, seed), share)
                used = tl.where(stays, weights, 0.0)
                each = tl.where(stays, each * (1.0 / (1.0 - share)), 0.0)
            for_value += tl.dot(used.to(above.dtype), above, input_precision="ieee")
            change = (weights * (each - along[None, :])).to(query.dtype)
            for_key += tl.dot(change, query, input_precision="ieee")
            part += tl.dot(tl.trans(change), key, input_precision="ieee")
            if begin + KEYS < length:
                tl.store(queries + place + at, part, mask=is_query[:, None])
            else:
                at = row.to(tl.int64)[:, None] * step + inside
                tl.store(target + at, (part * natural).to(found.dtype.element_ty), mask=is_query[:, None])
        at = column.to(tl.int64)[:, None] * step + inside
        for_value = for_value * (1.0 / (1.0 - share))
        tl.store(target + line + at, (for_key * natural).to(found.dtype.element_ty), mask=is_key[:, None])
        tl.store(target + 2 * line + at, for_value.to(found.dtype.element_ty), mask=is_key[:, None])
        tl.debug_barrier()
