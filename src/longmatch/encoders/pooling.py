"""The end of an encoder's graph: the states of a piece's tokens become one unit vector."""

from typing import Any

import numpy as np

from longmatch.encoders.openvino import operations

Node = Any  # of OpenVINO
POOLINGS = ("mean", "cls", "max")
LOWEST = np.float32(-65504)  # of float16


def unit_vectors(states: Node, mask: Node, pooling: str) -> Node:
    """(pieces, tokens, width) and the mask (pieces, tokens), 1 for tokens -> (pieces, width), each of length 1."""
    op = operations()
    return normalised(_pooled(op, states, op.convert(mask, np.float32), pooling))


def normalised(vectors: Node) -> Node:
    """Vectors (pieces, width) at length 1, as the output `vectors`."""
    op = operations()
    # Written out, because OpenVINO then keeps it in float32 where the rest is bfloat16.
    square = op.reduce_sum(vectors * vectors, _axis(op, 1), True)
    found = vectors / op.sqrt(op.maximum(square, op.constant(np.float32(1e-24))))
    found.output(0).set_names({"vectors"})
    return found


def _pooled(op: Any, states: Node, is_token: Node, pooling: str) -> Node:
    if pooling == "cls":
        return op.gather(states, op.constant(np.int64(0)), _axis(op, 1))
    if pooling == "max":
        inside = op.unsqueeze(op.convert(is_token, bool), _axis(op, 2))
        return op.reduce_max(op.select(inside, states, op.constant(LOWEST)), _axis(op, 1))
    count = op.reduce_sum(is_token, _axis(op, 1), True)
    share = op.unsqueeze(is_token / op.maximum(count, op.constant(np.float32(1))), _axis(op, 2))
    return op.reduce_sum(op.multiply(states, share), _axis(op, 1))  # a product of matrices rounds them to bfloat16


def _axis(op: Any, number: int) -> Node:
    return op.constant(np.array([number], np.int64))
