"""Engines, which compute a backbone's token vectors, and the padded batches they take."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from longmatch.encoders.batches import padded_lengths
from longmatch.encoders.threads import single_core_pool

Precision = Literal["float32", "bfloat16"]
EnginePrecision = Precision | Literal["mixed"]
"""The precision an engine computes in.

mixed: linear layers in bfloat16, sums, norms and residuals in float32; bfloat16: everything, weights included.
"""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Batch:
    """Pieces padded to the same length."""

    rows: Ints  # (pieces,) index of each piece in the whole input
    ids: Tensor  # (pieces, tokens)
    mask: Tensor  # (pieces, tokens), False for padding

    @staticmethod
    def of(rows: Ints, pieces: list[Ints], specials: tuple[int, int], longest: int) -> "Batch":
        """Put the start and end tokens (`specials`) around each piece and pad; the model takes `longest` tokens.

        >>> Batch.of(np.array([0]), [np.array([7])], (1, 2), longest=5).ids.tolist()
        [[1, 7, 2, 0, 0]]
        """
        lengths = np.array([len(piece) for piece in pieces], dtype=np.int64) + 2
        width = int(padded_lengths(lengths, longest).max())
        ids = np.zeros((len(pieces), width), dtype=np.int64)
        ids[:, 0] = specials[0]
        for row, piece in zip(ids, pieces, strict=True):
            row[1 : len(piece) + 1] = piece
            row[len(piece) + 1] = specials[1]
        return Batch(rows, torch.from_numpy(ids), torch.from_numpy(np.arange(width) < lengths[:, None]))

    def to(self, device: torch.device) -> "Batch":
        """Copy to a device."""
        return Batch(self.rows, self.ids.to(device), self.mask.to(device))


class Engine(Protocol):
    """Computes token vectors of padded batches."""

    name: str
    precision: EnginePrecision
    device: torch.device

    def read(self, batches: Iterable[Batch]) -> Iterator[tuple[Batch, Tensor]]:
        """Token vectors of each batch (pieces, tokens, width) on `device`, in order, valid until the next is taken."""


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


class TorchEngine:
    """Runs the Hugging Face module itself; on a CPU one batch per core, or a single batch on all cores."""

    name = "torch"

    def __init__(self, model: nn.Module, precision: EnginePrecision | None = None) -> None:
        parameter = next(model.parameters())
        self.model, self.device = model, parameter.device
        self.precision: EnginePrecision = precision or ("bfloat16" if parameter.dtype == torch.bfloat16 else "float32")

    def read(self, batches: Iterable[Batch]) -> Iterator[tuple[Batch, Tensor]]:
        """Token vectors of each batch, in order."""
        rest = iter(batches)
        first = list(islice(rest, 2))
        threads = torch.get_num_threads() if self.device.type == "cpu" and len(first) == 2 else 1
        on_device = (batch.to(self.device) for batch in chain(first, rest))
        if threads == 1:
            yield from ((batch, self._vectors(batch)) for batch in on_device)
            return
        with single_core_pool(threads) as pool:
            yield from pipelined(on_device, lambda batch: pool.submit(self._vectors, batch).result, threads + 1)

    @torch.inference_mode()
    def _vectors(self, batch: Batch) -> Tensor:
        vectors: Tensor = self.model(input_ids=batch.ids, attention_mask=batch.mask).last_hidden_state
        return vectors
