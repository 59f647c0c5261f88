"""A checkpoint's weights as numpy arrays, from safetensors."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import deserialize, safe_open
from safetensors.numpy import load_file

from longmatch.encoders.pretrained import find_file, need_file

WEIGHTS, PARTS = "model.safetensors", "model.safetensors.index.json"
KINDS = {  # by the names of safetensors
    "F64": np.float64,
    "F32": np.float32,
    "F16": np.float16,
    "BF16": np.uint16,
    "I64": np.int64,
    "I32": np.int32,
}


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
    """All weights as they are stored; numpy has no bfloat16, whose bits come as uint16."""
    weights: dict[str, npt.NDArray[Any]] = {}
    for path in files:
        try:
            weights |= load_file(path)
        except (KeyError, TypeError, AttributeError):  # of a type that numpy lacks
            for name, tensor in deserialize(path.read_bytes()):
                kind = KINDS.get(tensor["dtype"])
                if kind is None:
                    raise ValueError(f"its weights are stored as {tensor['dtype']}") from None
                weights[name] = np.frombuffer(tensor["data"], dtype=kind).reshape(tensor["shape"])
    return weights


def as_float32(array: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Weights of any precision; bfloat16 is the upper half of a float32.

    >>> as_float32(np.array([0x3F80, 0xC000], dtype=np.uint16)).tolist()
    [1.0, -2.0]
    """
    if array.dtype.kind in "uV" and array.dtype.itemsize == 2:
        array = (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    if array.dtype.kind != "f":
        raise ValueError(f"weights of {array.dtype}")
    return np.ascontiguousarray(array, np.float32)
