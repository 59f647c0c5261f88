"""Engines, which compute a backbone's vectors, and the padded batches they take."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from longmatch.encoders.batches import lengths_of, padded_lengths, token_batches

EngineName = Literal["openvino", "torch"]
EnginePrecision = Literal["float32", "float16", "mixed", "bfloat16"]
"""The precision an engine computes in.

float16: matrix products in half precision, for ARM processors; mixed: matrix products in bfloat16, sums, norms and
residuals in float32; bfloat16: everything, weights included.
"""

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Vectors = npt.NDArray[np.float32]


class Engine(Protocol):
    """Computes the vectors of pieces of text."""

    name: str
    precision: EnginePrecision
    device_type: str  # cpu, cuda, ...

    def encode(self, pieces: Sequence[Ints], specials: tuple[int, int]) -> Iterator[tuple[Ints, Vectors]]:
        """Indices and unit vectors of the pieces (token ids) of each batch; `specials` are start and end tokens."""


@dataclass(frozen=True)
class Batch:
    """Pieces padded to the same length."""

    rows: Ints  # (pieces,) index of each piece in the whole input
    ids: Ints  # (pieces, tokens)
    mask: Flags  # (pieces, tokens), False for padding

    @staticmethod
    def of(rows: Ints, pieces: Sequence[Ints], specials: tuple[int, int], longest: int) -> "Batch":
        """Put the start and end tokens (`specials`) around each piece and pad; the model takes `longest` tokens.

        >>> Batch.of(np.array([0]), [np.array([7])], (1, 2), longest=5).ids.tolist()
        [[1, 7, 2, 0]]
        """
        lengths = lengths_of(pieces) + 2
        width = int(padded_lengths(lengths, longest).max())
        mask = np.arange(width) < lengths[:, None]
        ids = np.zeros((len(pieces), width), dtype=np.int64)
        inside = mask.copy()
        inside[:, 0] = inside[np.arange(len(pieces)), lengths - 1] = False
        ids[inside] = np.concatenate(pieces)
        ids[:, 0] = specials[0]
        ids[np.arange(len(pieces)), lengths - 1] = specials[1]
        return Batch(rows, ids, mask)


def padded_batches(
    pieces: Sequence[Ints], specials: tuple[int, int], longest: int, budget: int, least: int | None = None
) -> Iterator[Batch]:
    """Pieces of similar length together, at most `budget` tokens a batch, and at least about `least` of them."""
    for rows in token_batches(padded_lengths(lengths_of(pieces) + 2, longest), budget, least):
        yield Batch.of(rows, [pieces[row] for row in rows.tolist()], specials, longest)


T = TypeVar("T")
R = TypeVar("R")


def pipelined(items: Iterable[T], start: Callable[[T], Callable[[], R]], depth: int) -> Iterator[tuple[T, R]]:
    """Each item with its result, in order, with up to `depth` items in progress.

    `start` begins work on an item and returns a function that waits for the result.
    """
    busy: deque[tuple[T, Callable[[], R]]] = deque()

    def oldest() -> tuple[T, R]:
        item, wait = busy.popleft()
        return item, wait()

    try:
        for item in items:
            if len(busy) == depth:
                yield oldest()
            busy.append((item, start(item)))
        while busy:
            yield oldest()
    finally:
        for _, wait in busy:
            wait()
