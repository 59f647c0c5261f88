"""What computes a backbone's token vectors: torch, in float32 or with products of bfloat16, or OpenVINO."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from longmatch.encoders.batches import padded
from longmatch.encoders.threads import one_core_each

Precision = Literal["float32", "bfloat16"]
Numbers = Precision | Literal["mixed"]
"""What a backbone computes in.

mixed: products of bfloat16 between sums, norms and residuals of float32; bfloat16: all of it, the weights too.
"""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Batch:
    """Pieces padded to one length."""

    rows: Ints  # (pieces,) which of the pieces asked for
    ids: Tensor  # (pieces, tokens)
    mask: Tensor  # (pieces, tokens) True where there is a token

    @staticmethod
    def of(rows: Ints, pieces: list[Ints], specials: tuple[int, int], most: int) -> "Batch":
        """Put the start and end tokens around each piece and pad it; `most` tokens are the longest the model reads.

        >>> Batch.of(np.array([0]), [np.array([7])], (1, 2), most=5).ids.tolist()
        [[1, 7, 2, 0, 0]]
        """
        lengths = np.array([len(piece) for piece in pieces], dtype=np.int64) + 2
        width = int(padded(lengths, most).max())
        ids = np.zeros((len(pieces), width), dtype=np.int64)
        ids[:, 0] = specials[0]
        for row, piece in zip(ids, pieces, strict=True):
            row[1 : len(piece) + 1] = piece
            row[len(piece) + 1] = specials[1]
        return Batch(rows, torch.from_numpy(ids), torch.from_numpy(np.arange(width) < lengths[:, None]))

    def to(self, device: torch.device) -> "Batch":
        """The same on another device."""
        return Batch(self.rows, self.ids.to(device), self.mask.to(device))


class Engine(Protocol):
    """Reads batches of tokens."""

    name: str
    precision: Numbers
    device: torch.device

    def read(self, batches: Iterable[Batch]) -> Iterator[tuple[Batch, Tensor]]:
        """The vectors of all tokens of each batch (pieces, tokens, width) on `device`, good until the next is asked."""


B = TypeVar("B")
F = TypeVar("F")


def several_at_once(batches: Iterable[B], start: Callable[[B], Callable[[], F]], most: int) -> Iterator[tuple[B, F]]:
    """Up to `most` batches under way, handed out in their order; `start` begins one and returns what waits for it."""
    busy: deque[tuple[B, Callable[[], F]]] = deque()

    def first_done() -> tuple[B, F]:
        batch, wait = busy.popleft()
        return batch, wait()

    try:
        for batch in batches:
            if len(busy) == most:
                yield first_done()
            busy.append((batch, start(batch)))
        while busy:
            yield first_done()
    finally:
        for _, wait in busy:
            wait()


class TorchEngine:
    """The Hugging Face module as it is; on a processor one batch on each core, or all cores on a single one."""

    name = "torch"

    def __init__(self, model: nn.Module, precision: Numbers | None = None) -> None:
        parameter = next(model.parameters())
        self.model, self.device = model, parameter.device
        self.precision: Numbers = precision or ("bfloat16" if parameter.dtype == torch.bfloat16 else "float32")

    def read(self, batches: Iterable[Batch]) -> Iterator[tuple[Batch, Tensor]]:
        """In their order."""
        rest = iter(batches)
        first = list(islice(rest, 2))
        threads = torch.get_num_threads() if self.device.type == "cpu" and len(first) == 2 else 1
        moved = (batch.to(self.device) for batch in chain(first, rest))
        if threads == 1:
            yield from ((batch, self._vectors(batch)) for batch in moved)
            return
        with one_core_each(threads) as pool:
            yield from several_at_once(moved, lambda batch: pool.submit(self._vectors, batch).result, threads + 1)

    @torch.inference_mode()
    def _vectors(self, batch: Batch) -> Tensor:
        found: Tensor = self.model(input_ids=batch.ids, attention_mask=batch.mask).last_hidden_state
        return found
