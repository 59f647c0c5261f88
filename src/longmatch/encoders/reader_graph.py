"""The graph of a reader, which scores two texts that it reads together, and its weights out of an ONNX file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from longmatch.encoders.graph import GraphBuilder, Weights
from longmatch.encoders.openvino import Node, input_nodes, integers, load_openvino, shared_core

INT8_MAX = 127
LEVELS = 256  # of a number of 8 bits
PRODUCT, STORED, SCALE, ZERO = "MatMul", "_quantized", "_scale", "_zero_point"  # as exporters name nodes and constants

Ranges = Mapping[str, tuple[float, float]]
"""The lowest and the highest state that goes into each product of matrices, by the product's name."""


class ReaderGraph(GraphBuilder):
    """Adds the nodes of a reader. Inputs are ids, mask and which tokens are of the second text: (pairs, tokens)."""

    def __init__(self, config: Mapping[str, Any], weights: Weights, ranges: Ranges | None = None) -> None:
        """With `ranges`, products of matrices are computed in integers of 8 bits."""
        super().__init__(config, weights, sums=None)
        self._ranges = ranges
        self._rounded: dict[str, Node] = {}  # states, by the name of their node
        self.products: dict[str, Node] = {}  # what goes into each product of matrices

    def scores(self) -> Any:
        """The model that gives the score of each pair: (pairs, 1)."""
        return self._model(self._nodes())

    def extremes(self) -> Any:
        """The model that gives the lowest and the highest state of each product: (products,) each."""
        nodes = self._nodes()
        for reduce in (self._op.reduce_min, self._op.reduce_max):
            found = [reduce(states, integers(0, 1, 2), False) for states in self.products.values()]
            nodes.append(self._op.concat([self._op.unsqueeze(each, integers(0)) for each in found], 0))
        return self._model(nodes)

    def _model(self, nodes: list[Node]) -> Any:
        return load_openvino().Model(nodes[3:], nodes[:3], "reader")

    def _nodes(self) -> list[Node]:
        """The three inputs and the scores."""
        ids, mask = input_nodes()
        second = self._op.parameter([-1, -1], np.int64, "second")
        tokens = self._op.gather(self._op.shape_of(ids), integers(1), integers(0))
        states = self._embeddings(ids, tokens, self._op.convert(second, np.float32))
        bias = self._bias(self._op.convert(mask, np.float32), tokens)
        for layer in range(self._layers):
            states = self._layer(states, bias, self._names.layer.format(layer))
        first = self._op.gather(states, self._op.constant(np.int64(0)), integers(1))  # (pairs, width)
        pooled = self._op.tanh(super()._linear(first, "pooler.dense"))
        return [ids, mask, second, super()._linear(pooled, "classifier")]

    def _linear(self, states: Node, name: str) -> Node:
        self.products[name] = states
        if self._ranges is None:
            return super()._linear(states, name)
        weight = self._weights[f"{name}.weight"]
        scale = np.abs(weight).max(axis=1, keepdims=True).clip(min=1e-12) / INT8_MAX
        stored = self._op.convert(self._op.constant(np.rint(weight / scale).astype(np.int8)), np.float32)
        rounded = self._round(states, *self._ranges[name])
        product = self._op.matmul(rounded, stored * self._constant(scale.astype(np.float32)), False, True)
        return product + self._constant(self._weights[f"{name}.bias"])

    def _round(self, states: Node, low: float, high: float) -> Node:
        """States in 8 bits; the same node for products of the same states. Zero stays zero."""
        key = states.get_friendly_name()
        if key not in self._rounded:
            most = max(high, -low * INT8_MAX / (INT8_MAX + 1))
            ends = self._number(-most * (INT8_MAX + 1) / INT8_MAX), self._number(most)
            self._rounded[key] = self._op.fake_quantize(states, *ends, *ends, LEVELS)
        return self._rounded[key]


def onnx_weights(path: Path) -> dict[str, npt.NDArray[Any]]:
    """The weights of an ONNX file by the names of the checkpoint that was exported; those in 8 bits as floats.

    Exporters keep the names of tables and biases; a product of matrices is named after its layer.
    """
    nodes = shared_core().read_model(path).get_ordered_ops()
    stored = {node.get_friendly_name(): np.array(node.data) for node in nodes if node.get_type_name() == "Constant"}
    weights = {name: array for name, array in stored.items() if array.dtype == np.float32 and array.ndim}
    for name in [name.removesuffix(STORED) for name in stored if name.endswith(STORED)]:
        zero = stored[name + ZERO].astype(np.float32)
        weights[name] = (stored[name + STORED].astype(np.float32) - zero) * stored[name + SCALE]
    for node in nodes:
        layer, _, last = node.get_friendly_name().strip("/").rpartition("/")
        if node.get_type_name() == PRODUCT and PRODUCT in last:
            name = _constant_above(node.input_value(1).get_node()).removesuffix(STORED)
            if name in weights:
                weights[f"{layer.replace('/', '.')}.weight"] = np.ascontiguousarray(weights[name].T)
    return weights


def _constant_above(node: Node) -> str:
    """The name of the constant that a node's first inputs lead to; empty for none."""
    while node.get_type_name() != "Constant":
        if not node.inputs():
            return ""
        node = node.input_value(0).get_node()
    return str(node.get_friendly_name())
