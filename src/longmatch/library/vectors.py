"""Sentence vectors as they lie in the store: in float16, or by choice in int8, which takes half the room."""

from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch
from torch import Tensor

Kind = Literal["float16", "int8"]
KINDS: tuple[Kind, ...] = get_args(Kind)
COLUMN = {"float16": pa.float16(), "int8": pa.int8()}
LARGEST = 127  # of int8, the same to both sides of 0


def pack(vectors: Tensor, kind: Kind) -> npt.NDArray[Any]:
    """Vectors of length 1 (vectors, width) as a flat array for the store.

    In int8 the largest number of a vector becomes 127. By how much it was stretched need not be kept: its length is 1.

    >>> pack(torch.tensor([[0.6, -0.8]]), "int8").tolist()
    [95, -127]
    """
    if kind == "float16":
        return np.asarray(vectors.half().numpy().ravel())
    stretch = LARGEST / vectors.abs().amax(dim=1, keepdim=True).clamp(min=1e-12)
    return np.asarray((vectors * stretch).round().to(torch.int8).numpy().ravel())


def unpack(stored: npt.NDArray[Any], count: int) -> Tensor:
    """What `pack` made, as float32: (count, width)."""
    vectors = torch.from_numpy(stored.astype(np.float32)).reshape(count, -1)
    return torch.nn.functional.normalize(vectors, dim=1) if stored.dtype == np.int8 else vectors
