"""The packed engine: no padding, and a separate thread prepares the next batches while the GPU computes."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch import Tensor

from longmatch.encoders.batches import lengths_of
from longmatch.encoders.engine import Ints, Vectors, pipelined
from longmatch.lab.encoders.engine import TorchEngine
from longmatch.lab.encoders.flat import FlatTokens, groups_within
from longmatch.lab.encoders.packed.bert import forward_packed, pool_packed
from longmatch.lab.encoders.transfer import fetch_async

AHEAD = 3  # batches prepared in advance, and as many queued on the GPU
GPU_BUDGETS = 4  # token budgets per batch on a GPU: it computes one faster than the CPU can launch its kernels


class PackedEngine(TorchEngine):
    """Encodes packed batches of pieces of similar length with a Hugging Face module's weights."""

    def encode(self, pieces: Sequence[Ints], specials: tuple[int, int]) -> Iterator[tuple[Ints, Vectors]]:
        """Indices and unit vectors of the pieces of each batch."""
        lengths = lengths_of(pieces)
        budget = self.token_budget * (GPU_BUDGETS if self.device_type == "cuda" else 1)
        order = np.argsort(-lengths.astype(np.int16), kind="stable")  # radix sort: one pass over 16 bits
        runs = groups_within(torch.from_numpy(lengths[order] + 2), budget)

        def packed(rows: Ints) -> FlatTokens:
            text = FlatTokens.of([pieces[row] for row in rows.tolist()], specials)
            return FlatTokens(text.ids.pin_memory(), text.lengths) if self.device.type == "cuda" else text

        with ThreadPoolExecutor(1) as pool:
            batches = (order[first:last] for first, last in runs)
            texts = pipelined(batches, lambda rows: pool.submit(packed, rows).result, depth=AHEAD)
            for (rows, _), vectors in pipelined(texts, lambda batch: self._start(batch[1]), depth=AHEAD):
                yield rows, vectors.numpy()

    def _start(self, text: FlatTokens) -> Callable[[], Tensor]:
        """Start encoding; returns a function that waits for the vectors."""
        with torch.inference_mode(False), torch.no_grad():
            return fetch_async(self._encode(text.to(self.device)))

    def _encode(self, text: FlatTokens) -> Tensor:
        return torch.nn.functional.normalize(pool_packed(forward_packed(self.model, text), text, self.pooling), dim=1)
