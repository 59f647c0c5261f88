"""What is measured: a piece of work that is done in several ways."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor
from training import DEVICE

SPECIALS, VOCABULARY = (101, 102), 30_522
ON_GPU = DEVICE.type == "cuda"


@dataclass(frozen=True)
class Sizes:
    """How large the work is; small on a processor, where only the code is tried."""

    encoded: int = 3_000_000 if ON_GPU else 3_000  # tokens
    colde: int = 92 if ON_GPU else 2  # documents a step: what is read at once, padded too
    smith: int = 480 if ON_GPU else 4
    product: int = 8_192 if ON_GPU else 256
    rounds: int = 12 if ON_GPU else 1
    layers: int | None = None if ON_GPU else 1
    most: int = 6_144 if ON_GPU else 600  # tokens that CoLDE reads of a document


@dataclass
class Job:
    """One part: what each way does, on how many tokens, and the work that these need."""

    run: Callable[[str], object]
    vectors: Callable[[str], Tensor]  # by each way, without dropout, to be compared
    tokens: int
    work: float
    facts: dict[str, Any] = field(default_factory=dict)
    gradient: Callable[[str], Tensor] | None = None  # without dropout
    repeats: Callable[[str], bool] | None = None  # whether a pass without gradients drops what one with them drops
    in_a_row: int = 1  # runs that follow each other without a wait, as the steps of training do


@dataclass
class Clock:
    """How many seconds are left of those that were given."""

    seconds: float
    start: float = field(default_factory=time.perf_counter)

    @property
    def left(self) -> float:
        """Less than 0 when they are over."""
        return self.seconds - (time.perf_counter() - self.start)
