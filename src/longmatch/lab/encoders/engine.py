"""The torch engine: a Hugging Face module, on a GPU or a CPU."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain, islice
from threading import Barrier
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from longmatch.encoders.engine import Batch, EnginePrecision, Ints, Vectors, padded_batches, pipelined
from longmatch.encoders.hardware import thread_count

CPU_BUDGET, GPU_BUDGET = 2_048, 65_536  # tokens per batch: small ones fit a CPU's cache, large ones fill a GPU


class TorchEngine:
    """Runs the module itself; on a CPU one batch per core, or a single batch on all cores."""

    name = "torch"

    def __init__(self, model: nn.Module, pooling: str) -> None:
        parameter = next(model.parameters())
        self.model, self.device, self.pooling = model, parameter.device, pooling
        self.device_type = self.device.type
        self.precision: EnginePrecision = "bfloat16" if parameter.dtype == torch.bfloat16 else "float32"
        self.token_budget = CPU_BUDGET if self.device_type == "cpu" else GPU_BUDGET

    def encode(self, pieces: Sequence[Ints], specials: tuple[int, int]) -> Iterator[tuple[Ints, Vectors]]:
        """Indices and unit vectors of the pieces of each batch."""
        longest = max_positions(self.model) or 1 << 20
        rest = padded_batches(pieces, specials, longest, self.token_budget)
        first = list(islice(rest, 2))
        threads = limit_torch_threads() if self.device_type == "cpu" and len(first) == 2 else 1
        batches = chain(first, rest)
        if threads == 1:
            yield from ((batch.rows, self._vectors(batch)) for batch in batches)
            return
        with single_core_pool(threads) as pool:
            for batch, vectors in pipelined(batches, lambda b: pool.submit(self._vectors, b).result, threads + 1):
                yield batch.rows, vectors

    @torch.inference_mode()
    def _vectors(self, batch: Batch) -> Vectors:
        ids, mask = (torch.from_numpy(array).to(self.device) for array in (batch.ids, batch.mask))
        hidden: Tensor = self.model(input_ids=ids, attention_mask=mask).last_hidden_state  # (pieces, tokens, width)
        if self.pooling == "cls":
            pooled = hidden[:, 0]
        elif self.pooling == "max":
            pooled = hidden.masked_fill(~mask[..., None], float("-inf")).amax(1)
        else:
            weights = mask[:, None].to(hidden.dtype)
            pooled = (weights @ hidden)[:, 0].float() / mask.sum(1, keepdim=True)
        return np.asarray(nn.functional.normalize(pooled.float(), dim=1).cpu().numpy())


def limit_torch_threads() -> int:
    """Limit torch to the threads that encoding may use; returns their number.

    A smaller number already set is kept. By default torch starts a thread for every core of the machine, even in a
    container or under `taskset`, and the threads then wait for each other.
    """
    if torch.get_num_threads() > thread_count():
        torch.set_num_threads(thread_count())
    return torch.get_num_threads()


@contextmanager
def single_core_pool(count: int) -> Iterator[ThreadPoolExecutor]:
    """A pool of `count` threads in each of which torch uses one core; other threads keep their setting."""
    before, ready = torch.get_num_threads(), Barrier(count + 1)

    def begin() -> None:
        torch.get_num_threads()  # the first call in a thread resets its number to the one set last in any thread
        torch.set_num_threads(1)
        ready.wait()

    with ThreadPoolExecutor(count) as pool:
        for _ in range(count):
            pool.submit(begin)
        ready.wait()
        torch.set_num_threads(before)
        yield pool


def first_position(model: nn.Module) -> int:
    """The position of the first token: RoBERTa and its relatives start after the padding index, BERT at 0."""
    padding = getattr(_table(model), "padding_idx", None)
    return 0 if padding is None else int(padding) + 1


def max_positions(model: nn.Module) -> int | None:
    """The most tokens a model takes, special tokens included; None without a table of position embeddings."""
    table = _table(model)
    return None if table is None else int(table.num_embeddings) - first_position(model)


def _table(model: nn.Module) -> Any:
    return getattr(getattr(model, "embeddings", None), "position_embeddings", None)
