"""A benchmarked workload, its size, and the implementations that are compared."""

import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor

SPECIALS, VOCABULARY = (101, 102), 30_522
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ON_GPU = DEVICE.type == "cuda"

WAYS = ("padded", "packed", "kernels")
SWITCHES = {  # LONGMATCH_PACKED, LONGMATCH_KERNELS
    "padded": ("0", "0"),
    "sorted": ("0", "0"),
    "packed": ("1", "0"),
    "kernels": ("1", "1"),
}


@dataclass(frozen=True)
class Sizes:
    """The size of the workloads; tiny on a CPU, where only the code is exercised."""

    encoded: int = 3_000_000 if ON_GPU else 3_000  # tokens
    colde: int = 92 if ON_GPU else 2  # documents per step: as many as fit at once, padded ones included
    smith: int = 480 if ON_GPU else 4
    product: int = 8_192 if ON_GPU else 256
    rounds: int = 12 if ON_GPU else 1
    layers: int | None = None if ON_GPU else 1
    max_tokens: int = 6_144 if ON_GPU else 600  # of a document, for CoLDE


@dataclass
class Workload:
    """One part of the benchmark: how to run it each way, its real tokens, and the operations they need."""

    run: Callable[[str], object]
    vectors: Callable[[str], Tensor]  # without dropout, to compare the ways
    tokens: int
    work: float
    facts: dict[str, Any] = field(default_factory=dict)
    gradient: Callable[[str], Tensor] | None = None  # without dropout
    repeats: Callable[[str], bool] | None = None  # whether passes with and without gradients drop the same units
    in_a_row: int = 1  # runs without a wait between them, like the steps of training


@dataclass
class Clock:
    """A time budget."""

    seconds: float
    start: float = field(default_factory=time.perf_counter)

    @property
    def left(self) -> float:
        """Seconds left; negative once the budget is spent."""
        return self.seconds - (time.perf_counter() - self.start)


def switched(way: str) -> AbstractContextManager[object]:
    """The environment variables that select an implementation."""
    packed, kernels = SWITCHES[way]
    return patch.dict(os.environ, {"LONGMATCH_PACKED": packed, "LONGMATCH_KERNELS": kernels})


def autocast() -> torch.autocast:
    """bfloat16 on a GPU, nothing on a CPU."""
    return torch.autocast(DEVICE.type, torch.bfloat16, enabled=ON_GPU, cache_enabled=False)
