"""What is drawn at a step depends on the seed and the step's number alone, so a run can go on from any step."""

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def chance(seed: int, step: int) -> np.random.Generator:
    """The random numbers of one step.

    >>> [int(chance(1, step).integers(1000)) for step in (7, 7, 8)]
    [777, 777, 49]
    """
    return np.random.default_rng([seed, step])


class Epochs:
    """Rows 0 .. count - 1 in a new order each epoch, cut into steps of nearly equal size, `per_step` at most.

    No step is left with a few rows, none holds a row twice, and each epoch holds every row once.

    >>> epochs = Epochs(count=10, per_step=4, seed=0)
    >>> epochs.steps_per_epoch, [len(epochs.rows(step)) for step in range(3)]
    (3, [3, 3, 4])
    """

    def __init__(self, count: int, per_step: int, seed: int) -> None:
        self.count, self.seed = count, seed
        self.steps_per_epoch = -(-count // per_step)
        self._epoch, self._order = -1, np.arange(0)

    def rows(self, step: int) -> Ints:
        """The rows of a step, whichever was asked for before."""
        epoch, place = divmod(step, self.steps_per_epoch)
        if epoch != self._epoch:
            self._epoch, self._order = epoch, chance(self.seed, epoch).permutation(self.count)
        first, last = (p * self.count // self.steps_per_epoch for p in (place, place + 1))
        return np.asarray(self._order[first:last], dtype=np.int64)
