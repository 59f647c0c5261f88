"""Low-rank changes to a network: the product of two narrow matrices is added to each matrix (LoRA, Hu et al., 2021).

SDR learns them; here a learnt change is added to a checkpoint's weights, so that the changed network
costs no more than the plain one.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load, save

from longmatch.encoders.weights import Weights, as_float32

DOWN, UP = ".down", ".up"


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
