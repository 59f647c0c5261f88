"""A checkpoint's network: what engines are made from. OpenVINO's is built from its config and weights, or from ONNX."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from longmatch.encoders.engine import Engine, EnginePrecision, Vectors
from longmatch.encoders.graph import ARCHITECTURES, UnsupportedArchitecture, build_graph, max_positions
from longmatch.encoders.onnx import read_onnx
from longmatch.encoders.openvino import OpenvinoEngine
from longmatch.encoders.pretrained import find_file, read_config, remembered_digest
from longmatch.encoders.selection import fastest_engine
from longmatch.encoders.weights import PARTS, WEIGHTS, read_weights, weight_files

ONNX = ("onnx/model.onnx", "model.onnx")  # where exporters put it
HALF_SUMS = 384  # products that float16 adds up at a time: more lose too many digits


@cache
def _code_digest() -> str:
    """Of the code that makes graphs: one that other code made is not taken from the cache."""
    files = [Path(__file__).with_name(f"{name}.py") for name in ("graph", "openvino", "onnx", "network")]
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
