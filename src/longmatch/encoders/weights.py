"""A checkpoint's weights as numpy arrays, from safetensors, and low-rank changes to them (LoRA, Hu et al., 2021).

A change is the product of two narrow matrices, added to a matrix of the network, which then costs no more than before.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import deserialize, safe_open
from safetensors.numpy import load, load_file, save

from longmatch.encoders.pretrained import find_file, need_file

WEIGHTS, PARTS = "model.safetensors", "model.safetensors.index.json"
Weights = Mapping[str, npt.NDArray[Any]]
KINDS = {  # by the names of safetensors
    "F64": np.float64,
    "F32": np.float32,
    "F16": np.float16,
    "BF16": np.uint16,
    "I64": np.int64,
    "I32": np.int32,
}
DOWN, UP = ".down", ".up"


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
            weights |= _read_bits(path)
    return weights


def _read_bits(path: Path) -> dict[str, npt.NDArray[Any]]:
    found = {}
    for name, tensor in deserialize(path.read_bytes()):
        if tensor["dtype"] not in KINDS:
            raise ValueError(f"its weights are stored as {tensor['dtype']}")
        found[name] = np.frombuffer(tensor["data"], dtype=KINDS[tensor["dtype"]]).reshape(tensor["shape"])
    return found


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


def change_to_bytes(change: Weights) -> bytes:
    """Serialise a change as safetensors."""
    return save({name: np.ascontiguousarray(matrix) for name, matrix in change.items()})


def change_from_bytes(content: bytes) -> dict[str, npt.NDArray[Any]]:
    """Inverse of `change_to_bytes`."""
    return dict(load(content))


def combine_changes(first: Weights, second: Weights) -> dict[str, npt.NDArray[Any]]:
    """One change equal to applying both: the products are summed, so the ranks add up."""
    combined = dict(first) | dict(second)
    for key in first.keys() & second.keys():
        combined[key] = np.concatenate([first[key], second[key]], axis=0 if key.endswith(DOWN) else 1)
    return combined


def products(change: Weights) -> dict[str, npt.NDArray[np.float32]]:
    """What a change adds to each layer's matrix, by the layer's name."""
    names = sorted({key.rpartition(".")[0] for key in change})
    return {name: change[name + UP].astype(np.float32) @ change[name + DOWN].astype(np.float32) for name in names}


def with_change(weights: Weights, change: Weights) -> dict[str, npt.NDArray[Any]]:
    """A checkpoint's weights with a change added; names may carry a prefix, as in checkpoints with a head."""
    changed = dict(weights)
    for layer, product in products(change).items():
        key = next((name for name in weights if name.endswith(f"{layer}.weight")), None)
        if key is None or weights[key].shape != product.shape:
            raise ValueError(f"the network has no layer {layer} that this change fits")
        changed[key] = as_float32(weights[key]) + product
    return changed
