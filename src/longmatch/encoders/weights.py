"""A checkpoint's weights as numpy arrays, from safetensors."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import deserialize, safe_open
from safetensors.numpy import load_file

from longmatch.encoders.pretrained import find_file, need_file

WEIGHTS, PARTS = "model.safetensors", "model.safetensors.index.json"
Weights = Mapping[str, npt.NDArray[Any]]


def weight_files(place: str) -> list[Path]:
    """The files of the weights of a folder or hub id: one, or the parts that an index lists."""
    parts = find_file(place, PARTS)
    names = json.loads(parts.read_text(encoding="utf-8"))["weight_map"].values() if parts else [WEIGHTS]
    files = [need_file(place, name) for name in sorted(set(names))]
    for file in files:
        with safe_open(file, framework="numpy"):  # raises if the file is damaged
            pass
    return files


def read_weights(files: list[Path]) -> dict[str, npt.NDArray[Any]]:
    """All weights, bfloat16 as float32."""
    weights: dict[str, npt.NDArray[Any]] = {}
    for path in files:
        try:
            weights |= load_file(path)
        except (KeyError, TypeError):  # numpy has no bfloat16
            weights |= {name: _array(tensor) for name, tensor in deserialize(path.read_bytes())}
    return weights


def _array(tensor: Mapping[str, Any]) -> npt.NDArray[Any]:
    kinds = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64, "I32": np.int32}
    if tensor["dtype"] == "BF16":
        bits = np.frombuffer(tensor["data"], dtype=np.uint16).astype(np.uint32) << 16
        return bits.view(np.float32).reshape(tensor["shape"])
    if tensor["dtype"] not in kinds:
        raise ValueError(f"its weights are stored as {tensor['dtype']}")
    return np.frombuffer(tensor["data"], dtype=kinds[tensor["dtype"]]).reshape(tensor["shape"])
