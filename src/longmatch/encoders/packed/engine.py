"""Reads pieces of text without padding, the next batch prepared while a GPU reads the last."""

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from longmatch.encoders.engine import Ints, TorchEngine, several_at_once
from longmatch.encoders.flat import Flat, groups_within
from longmatch.encoders.packed.reading import pooled, read_packed

TOGETHER = 4  # budgets that a GPU reads at a time: it reads one faster than a processor tells it what to do


class PackedEngine(TorchEngine):
    """The Hugging Face module's weights, over pieces of about one length that lie one after another."""

    def encode(
        self, pieces: Sequence[Ints], specials: tuple[int, int], mode: str, budget: int
    ) -> Iterator[tuple[Ints, Tensor]]:
        """Which pieces, and one vector of length 1 each, on the CPU; about `budget` tokens at a time, on a GPU more."""
        budget *= TOGETHER if self.device.type == "cuda" else 1
        lengths = torch.tensor([len(piece) + 2 for piece in pieces])
        order = lengths.argsort(descending=True, stable=True)
        rows = [order[first:last].numpy() for first, last in groups_within(lengths[order], budget)]

        def start(rows: Ints) -> Callable[[], Tensor]:
            text = Flat.of([pieces[row] for row in rows.tolist()], specials)
            return self._start(text, mode)

        return several_at_once(rows, start, most=2)

    def _start(self, text: Flat, mode: str) -> Callable[[], Tensor]:
        """Begin to read; what waits for the vectors."""
        with torch.inference_mode(False), torch.no_grad():
            if self.device.type != "cuda":
                found = self._vectors_of(text.to(self.device), mode)
                return lambda: found
            ids = text.ids.pin_memory().to(self.device, non_blocking=True)
            vectors = self._vectors_of(Flat(ids, text.lengths), mode)
            copied = torch.empty(vectors.shape, pin_memory=True).copy_(vectors, non_blocking=True)
            done = torch.cuda.Event()
            done.record()

        def wait() -> Tensor:
            done.synchronize()
            return copied

        return wait

    def _vectors_of(self, text: Flat, mode: str) -> Tensor:
        return torch.nn.functional.normalize(pooled(read_packed(self.model, text), text, mode), dim=1)
