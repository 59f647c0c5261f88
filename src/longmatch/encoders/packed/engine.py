"""The packed engine: no padding, and a separate thread prepares the next batches while the GPU computes."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch import Tensor

from longmatch.encoders.engine import Ints, TorchEngine, pipelined
from longmatch.encoders.flat import FlatTokens, groups_within
from longmatch.encoders.packed.bert import forward_packed, pool_packed
from longmatch.encoders.transfer import fetch_async

AHEAD = 3  # batches prepared in advance, and as many queued on the GPU
GPU_BUDGETS = 4  # token budgets per batch on a GPU: it computes one faster than the CPU can launch its kernels


class PackedEngine(TorchEngine):
    """Encodes packed batches of pieces of similar length with a Hugging Face module's weights."""

    def encode(
        self, pieces: Sequence[Ints], lengths: Ints, specials: tuple[int, int], mode: str, budget: int
    ) -> Iterator[tuple[Ints, Tensor]]:
        """Indices and unit vectors (on the CPU) of the pieces of each batch, of about `budget` tokens, more on a GPU.

        `lengths` are those of the pieces without start and end tokens; `mode` is the pooling.
        """
        budget *= GPU_BUDGETS if self.device.type == "cuda" else 1
        order = np.argsort(-lengths.astype(np.int16), kind="stable")  # radix sort: one pass over 16 bits
        runs = groups_within(torch.from_numpy(lengths[order] + 2), budget)

        def packed(rows: Ints) -> FlatTokens:
            text = FlatTokens.of([pieces[row] for row in rows.tolist()], specials)
            return FlatTokens(text.ids.pin_memory(), text.lengths) if self.device.type == "cuda" else text

        with ThreadPoolExecutor(1) as pool:
            batches = (order[first:last] for first, last in runs)
            texts = pipelined(batches, lambda rows: pool.submit(packed, rows).result, depth=AHEAD)
            for (rows, _), vectors in pipelined(texts, lambda batch: self._start(batch[1], mode), depth=AHEAD):
                yield rows, vectors

    def _start(self, text: FlatTokens, mode: str) -> Callable[[], Tensor]:
        """Start encoding; returns a function that waits for the vectors."""
        with torch.inference_mode(False), torch.no_grad():
            return fetch_async(self._encode(text.to(self.device), mode))

    def _encode(self, text: FlatTokens, mode: str) -> Tensor:
        return torch.nn.functional.normalize(pool_packed(forward_packed(self.model, text), text, mode), dim=1)
