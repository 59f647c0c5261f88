"""Sampling that depends only on the seed and the step number, so that a run can resume at any step."""

import numpy as np

from longmatch.units.tokens import Ints


def step_rng(seed: int, step: int) -> np.random.Generator:
    """The random number generator of one step.

    >>> [int(step_rng(1, step).integers(1000)) for step in (7, 7, 8)]
    [777, 777, 49]
    """
    return np.random.default_rng([seed, step])


class EpochSampler:
    """Rows 0 .. count - 1, reshuffled every epoch and split into steps of nearly equal size, at most `per_step` rows.

    Every epoch holds each row exactly once, and no step is left with just a few rows.

    >>> sampler = EpochSampler(count=10, per_step=4, seed=0)
    >>> sampler.steps_per_epoch, [len(sampler.rows(step)) for step in range(3)]
    (3, [3, 3, 4])
    """

    def __init__(self, count: int, per_step: int, seed: int) -> None:
        self.count, self.seed = count, seed
        self.steps_per_epoch = -(-count // per_step)
        self._epoch, self._order = -1, np.arange(0)

    def rows(self, step: int) -> Ints:
        """The rows of a step; steps may be requested in any order."""
        epoch, place = divmod(step, self.steps_per_epoch)
        if epoch != self._epoch:
            self._epoch, self._order = epoch, step_rng(self.seed, epoch).permutation(self.count)
        first, last = (p * self.count // self.steps_per_epoch for p in (place, place + 1))
        return np.asarray(self._order[first:last], dtype=np.int64)
