"""A checkpoint's network: what engines are made from. OpenVINO's is built from its config and weights, or from ONNX."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from longmatch.encoders.checkpoint import PARTS, WEIGHTS, read_weights, weight_files
from longmatch.encoders.engine import Engine, EnginePrecision, Vectors, fastest_engine
from longmatch.encoders.graph import ARCHITECTURES, UnsupportedArchitecture, build_graph, max_positions
from longmatch.encoders.openvino import Node, OpenvinoEngine, load_openvino, operations, shared_core, unit_vectors
from longmatch.encoders.pretrained import find_file, read_config, remembered_digest
from longmatch.errors import LongmatchError

OUTPUTS = ("last_hidden_state", "token_embeddings")  # by the names that exporters give them
QUANTISED = ("Subtract", "Convert", "Convert", "Clamp", "Add", "Round", "Divide", "Multiply")  # up from a product to x
ONNX = ("onnx/model.onnx", "model.onnx")  # where exporters put it
HALF_SUMS = 384  # products that float16 adds up at a time: more lose too many digits


@cache
def _code_digest() -> str:
    """Of the code that makes graphs: one that other code made is not taken from the cache."""
    files = [Path(__file__).with_name(f"{name}.py") for name in ("graph", "openvino", "network")]
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:8]


class Network(Protocol):
    """A network, and how it is computed."""

    @property
    def width(self) -> int:
        """Dimensions of a vector."""

    @property
    def positions(self) -> int:
        """The most tokens it takes, special ones included."""

    @property
    def digest(self) -> str:
        """Identifies the weights."""

    def engine(self, pooling: str, precision: EnginePrecision | None, probe: Callable[[Engine], Vectors]) -> Engine:
        """An engine in that precision; by default in the fastest that gives the same vectors of the probes."""


def is_onnx_alone(place: str) -> bool:
    """Whether a local folder holds an ONNX file and no weights that torch reads."""
    folder = Path(place)
    has_onnx = any((folder / name).is_file() for name in ONNX)
    return has_onnx and not any((folder / name).is_file() for name in (WEIGHTS, PARTS))


@dataclass(frozen=True)
class GraphNetwork:
    """A network that OpenVINO computes; weights are read when an engine is compiled."""

    config: dict[str, Any]
    files: list[Path]  # of the weights

    @staticmethod
    def open(place: str) -> "GraphNetwork":
        """Of a folder or hub id: its weights, or its ONNX file where it has none, or they are not of the BERT family.

        Raises UnsupportedArchitecture where there is neither.
        """
        config = read_config(place)
        try:
            max_positions(config)
            return GraphNetwork(config, weight_files(place))
        except (UnsupportedArchitecture, FileNotFoundError):
            onnx = next((file for name in ONNX if (file := find_file(place, name))), None)
            if onnx is None:
                raise
            return GraphNetwork(config, [onnx])

    @property
    def width(self) -> int:
        """Dimensions of a vector."""
        return int(self.config.get("hidden_size") or self.config["dim"])

    @property
    def positions(self) -> int:
        """The most tokens it takes, special ones included."""
        if self.config.get("model_type") in ARCHITECTURES:
            return max_positions(self.config)
        return int(self.config["max_position_embeddings"])

    @property
    def digest(self) -> str:
        """Of the weights and the config."""
        sha = sha256(repr(sorted(self.config.items(), key=lambda item: item[0])).encode())
        for path in self.files:
            sha.update(remembered_digest(path).encode())
        return sha.hexdigest()[:16]

    def engine(self, pooling: str, precision: EnginePrecision | None, probe: Callable[[Engine], Vectors]) -> Engine:
        """An engine in that precision; by default in the fastest that gives the same vectors of the probes."""
        digest = f"{self.digest}-{pooling}-{_code_digest()}"

        def make(chosen: EnginePrecision) -> Engine:
            return OpenvinoEngine(lambda: self.graph(pooling, chosen), digest, self.positions, chosen)

        return make(precision) if precision else fastest_engine(make, digest, probe)

    def graph(self, pooling: str, precision: EnginePrecision = "float32") -> Any:
        """The OpenVINO model."""
        if self.files[0].suffix == ".onnx":
            return read_onnx(self.files[0], pooling)
        sums = HALF_SUMS if precision == "float16" else None
        return build_graph(self.config, read_weights(self.files), pooling, sums)


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
