"""A network from an ONNX file, as sentence-transformers repositories carry it, with the pooling added."""

from pathlib import Path
from typing import Any

import numpy as np

from longmatch.encoders.openvino import Node, load_openvino, operations, shared_core, unit_vectors
from longmatch.errors import LongmatchError

OUTPUTS = ("last_hidden_state", "token_embeddings")  # by the names that exporters give them
QUANTISED = ("Subtract", "Convert", "Convert", "Clamp", "Add", "Round", "Divide", "Multiply")  # up from a product to x


def read_onnx(path: Path, pooling: str) -> Any:
    """The OpenVINO model of an ONNX file with inputs `ids` and `mask` and one unit vector per piece."""
    try:
        model = shared_core().read_model(path)
    except RuntimeError as error:
        raise LongmatchError(f"{path} cannot be read as ONNX. Download it again, or name another model.") from error
    inputs = {name: port for port in model.inputs for name in port.names}
    missing = {"input_ids", "attention_mask"} - set(inputs)
    outputs = [port for port in model.outputs if set(OUTPUTS) & set(port.names)]
    if missing or not outputs:
        raise LongmatchError(f"{path} is not an encoder's export: it takes {', '.join(inputs)}.")
    ids, mask = inputs["input_ids"].get_node(), inputs["attention_mask"].get_node()
    if "token_type_ids" in inputs:  # all text is of the first type
        op = operations()
        zeros = op.broadcast(op.constant(np.int64(0)), op.shape_of(ids))
        inputs["token_type_ids"].get_node().output(0).replace(zeros.output(0))
    for node in model.get_ordered_ops():
        _compute_in_floats(node)
    hidden = outputs[0].get_node().input_value(0)
    return load_openvino().Model([unit_vectors(hidden, mask, pooling)], [ids, mask], path.stem)


def _compute_in_floats(product: Node) -> None:
    """Multiply states by int8 weights as floats, where an export would round the states of a batch first.

    By how much it rounds depends on the largest state of the whole batch: the vector of a text would change with those
    beside it. And not every processor has such products of integers: others compute them far more slowly.
    """
    if product.get_type_name() != "MatMul" or product.get_output_element_type(0).to_string() != "i32":
        return
    op = operations()
    states, weights = _above(product, QUANTISED), product.input_value(1)
    casts = [port.get_node() for port in product.output(0).get_target_inputs()]
    scalings = [port.get_node() for cast in casts for port in cast.output(0).get_target_inputs()]
    if states is None or len(casts) != 1 or [node.get_type_name() for node in scalings] != ["Multiply"]:
        return
    scales = next(node for node in _inputs(scalings[0]) if node.get_friendly_name() != casts[0].get_friendly_name())
    of_states = [node for node in _inputs(scales) if node.get_type_name() == "Divide"]
    if scales.get_type_name() != "Multiply" or len(of_states) > 1:
        return
    for node in of_states:
        node.output(0).replace(op.constant(np.float32(1)).output(0))
    exact = op.matmul(states, op.convert(weights, np.float32), False, False)
    casts[0].output(0).replace(exact.output(0))


def _above(node: Node, types: tuple[str, ...]) -> Node | None:
    """What nodes of these types, each the first input of the one before, are computed from; None if they differ."""
    for name in types:
        node = node.input_value(0).get_node()
        if node.get_type_name() != name:
            return None
    return node.input_value(0)


def _inputs(node: Node) -> list[Node]:
    return [port.get_source_output().get_node() for port in node.inputs()]
