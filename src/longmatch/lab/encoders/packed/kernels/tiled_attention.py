"""The kernels of tiled_attention: a tile of queries and a tile of keys at a time, for sequences of any length.

`qkv` and its gradient are (tokens, 3, heads, size), `out` and its gradient (tokens, heads, size), all contiguous;
`log_sums`, the base-2 logarithms of the softmax denominators, are (heads, tokens).
"""

# mypy: ignore-errors
# ruff: noqa: ANN001, ANN201, ANN202, PLR0915
import triton
import triton.language as tl

from longmatch.lab.encoders.packed.kernels.dropout import hashed, keep_mask


@triton.jit
def _rows(first, length, TILE: tl.constexpr):
    row = first + tl.arange(0, TILE)
    return row, row < length


@triton.jit
def _tile(source, row, valid, step, SIZE: tl.constexpr):
    """A tile (TILE, SIZE) of rows that are `step` numbers apart."""
    at = row.to(tl.int64)[:, None] * step + tl.arange(0, SIZE)[None, :]
    return tl.load(source + at, mask=valid[:, None], other=0.0)


@triton.jit
def tiled_forward(
    qkv, out, log_sums, offsets, seeds, scale, dropout, heads, tokens,
    SIZE: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr, HAS_DROPOUT: tl.constexpr,
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
        row_max = tl.full((QUERIES,), float("-inf"), tl.float32)
        total = tl.zeros((QUERIES,), tl.float32)
        attended = tl.zeros((QUERIES, SIZE), tl.float32)
        if HAS_DROPOUT:
            seed = tl.load(seeds)
            row_hashes = hashed((start + row) * heads + head, seed)
        for begin in range(0, length, KEYS):
            column, is_key = _rows(begin, length, KEYS)
            key = _tile(source + heads * SIZE, column, is_key, step, SIZE)
            value = _tile(source + 2 * heads * SIZE, column, is_key, step, SIZE)
            scores = tl.dot(query, tl.trans(key), input_precision="ieee") * scale
            scores = tl.where(is_key[None, :], scores, float("-inf"))
            new_max = tl.maximum(row_max, tl.max(scores, 1))
            powers = tl.exp2(scores - new_max[:, None])
            decay = tl.exp2(row_max - new_max)
            total = total * decay + tl.sum(powers, 1)
            if HAS_DROPOUT:
                powers = tl.where(keep_mask(row_hashes, hashed(column, seed ^ 0x5BD1E995), dropout), powers, 0.0)
            attended = attended * decay[:, None] + tl.dot(powers.to(value.dtype), value, input_precision="ieee")
            row_max = new_max
        attended = attended / (total * (1.0 - dropout))[:, None]
        at = (start + row).to(tl.int64)[:, None] * (heads * SIZE) + head * SIZE + tl.arange(0, SIZE)[None, :]
        tl.store(out + at, attended.to(out.dtype.element_ty), mask=is_query[:, None])
        tl.store(log_sums + head.to(tl.int64) * tokens + start + row, row_max + tl.log2(total), mask=is_query)


@triton.jit
def tiled_backward(
    qkv, out, grad, log_sums, offsets, seeds, row_sums, grad_queries, grad_qkv, scale, dropout, heads, tokens,
    SIZE: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr, HAS_DROPOUT: tl.constexpr,
):  # fmt: skip
    """One head of one sequence, one tile of keys after another. `grad_queries` (tokens, heads, size) accumulates the
    gradient of the queries in float32; no other program touches this part of it.
    """
    program = tl.program_id(0)
    sequence, head = program // heads, program % heads
    start = tl.load(offsets + sequence)
    length = tl.load(offsets + sequence + 1) - start
    step, out_step = 3 * heads * SIZE, heads * SIZE
    source = qkv + start.to(tl.int64) * step + head * SIZE
    target = grad_qkv + start.to(tl.int64) * step + head * SIZE
    out_start = start.to(tl.int64) * out_step + head * SIZE
    within_head = tl.arange(0, SIZE)[None, :]
    if HAS_DROPOUT:
        seed = tl.load(seeds)
    e_scale = scale * 0.6931471805599453  # scale includes log2(e)
    stats_start = head.to(tl.int64) * tokens + start
    for first in range(0, length, QUERIES):
        row, is_query = _rows(first, length, QUERIES)
        grad_out = _tile(grad + out_start, row, is_query, out_step, SIZE).to(tl.float32)
        out_tile = _tile(out + out_start, row, is_query, out_step, SIZE).to(tl.float32)
        tl.store(row_sums + stats_start + row, tl.sum(grad_out * out_tile, 1), mask=is_query)
    tl.debug_barrier()
    for begin in range(0, length, KEYS):
        column, is_key = _rows(begin, length, KEYS)
        key = _tile(source + out_step, column, is_key, step, SIZE)
        value = _tile(source + 2 * out_step, column, is_key, step, SIZE)
        grad_key = tl.zeros((KEYS, SIZE), tl.float32)
        grad_value = tl.zeros((KEYS, SIZE), tl.float32)
        if HAS_DROPOUT:
            column_hashes = hashed(column, seed ^ 0x5BD1E995)
        for first in range(0, length, QUERIES):
            row, is_query = _rows(first, length, QUERIES)
            query = _tile(source, row, is_query, step, SIZE)
            grad_out = _tile(grad + out_start, row, is_query, out_step, SIZE)
            at = row.to(tl.int64)[:, None] * out_step + within_head
            grad_query = tl.load(grad_queries + out_start + at, mask=is_query[:, None] & (begin > 0), other=0.0)
            log_sum = tl.load(log_sums + stats_start + row, mask=is_query, other=float("inf"))
            row_sum = tl.load(row_sums + stats_start + row, mask=is_query, other=0.0)
            scores = tl.dot(key, tl.trans(query), input_precision="ieee") * scale
            weights = tl.where(is_key[:, None], tl.exp2(scores - log_sum[None, :]), 0.0)
            grad_weights = tl.dot(value, tl.trans(grad_out), input_precision="ieee")
            kept_weights = weights
            if HAS_DROPOUT:
                keep = keep_mask(column_hashes, hashed((start + row) * heads + head, seed), dropout)
                kept_weights = tl.where(keep, weights, 0.0)
                grad_weights = tl.where(keep, grad_weights * (1.0 / (1.0 - dropout)), 0.0)
            grad_value += tl.dot(kept_weights.to(grad_out.dtype), grad_out, input_precision="ieee")
            grad_scores = (weights * (grad_weights - row_sum[None, :])).to(query.dtype)
            grad_key += tl.dot(grad_scores, query, input_precision="ieee")
            grad_query += tl.dot(tl.trans(grad_scores), key, input_precision="ieee")
            if begin + KEYS < length:
                tl.store(grad_queries + out_start + at, grad_query, mask=is_query[:, None])
            else:
                at = row.to(tl.int64)[:, None] * step + within_head
                tl.store(target + at, (grad_query * e_scale).to(grad_qkv.dtype.element_ty), mask=is_query[:, None])
        at = column.to(tl.int64)[:, None] * step + within_head
        grad_value = grad_value * (1.0 / (1.0 - dropout))
        tl.store(target + out_step + at, (grad_key * e_scale).to(grad_qkv.dtype.element_ty), mask=is_key[:, None])
        tl.store(target + 2 * out_step + at, grad_value.to(grad_qkv.dtype.element_ty), mask=is_key[:, None])
        tl.debug_barrier()
