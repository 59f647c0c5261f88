"""Reads pieces of text without padding, the next batches laid out by a thread of their own while a GPU reads."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch import Tensor

from longmatch.encoders.engine import Ints, TorchEngine, several_at_once
from longmatch.encoders.flat import Flat, groups_within
from longmatch.encoders.packed.reading import pooled, read_packed
from longmatch.encoders.transfer import fetched

AHEAD = 3  # batches laid out before they are read, and as many that a GPU is told to read before it is done
TOGETHER = 4  # budgets that a GPU reads at a time: it reads one faster than a processor tells it what to do


class PackedEngine(TorchEngine):
    """The Hugging Face module's weights, over pieces of about one length that lie one after another."""

    def encode(
        self, pieces: Sequence[Ints], lengths: Ints, specials: tuple[int, int], mode: str, budget: int
    ) -> Iterator[tuple[Ints, Tensor]]:
        """Which pieces, and one vector of length 1 each, on the CPU; about `budget` tokens at a time, on a GPU more.

        `lengths` are those of the pieces, without start and end token.
        """
        budget *= TOGETHER if self.device.type == "cuda" else 1
        order = np.argsort(-lengths.astype(np.int16), kind="stable")  # numbers so short are sorted in one pass
        runs = groups_within(torch.from_numpy(lengths[order] + 2), budget)

        def laid_out(rows: Ints) -> Flat:
            text = Flat.of([pieces[row] for row in rows.tolist()], specials)
            return Flat(text.ids.pin_memory(), text.lengths) if self.device.type == "cuda" else text

        with ThreadPoolExecutor(1) as pool:
            batches = (order[first:last] for first, last in runs)
            texts = several_at_once(batches, lambda rows: pool.submit(laid_out, rows).result, most=AHEAD)
            for (rows, _), vectors in several_at_once(texts, lambda batch: self._start(batch[1], mode), most=AHEAD):
                yield rows, vectors

    def _start(self, text: Flat, mode: str) -> Callable[[], Tensor]:
        """Begin to read; what waits for the vectors."""
        with torch.inference_mode(False), torch.no_grad():
            return fetched(self._vectors_of(text.to(self.device), mode))

    def _vectors_of(self, text: Flat, mode: str) -> Tensor:
        return torch.nn.functional.normalize(pooled(read_packed(self.model, text), text, mode), dim=1)
