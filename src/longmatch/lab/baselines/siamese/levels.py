"""One level of a hierarchical attention network: a GRU over each run, and attention over what it says."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from longmatch.encoders.ragged import offsets_of, segment_ids, segment_max, segment_sum


class Weighed(NamedTuple):
    """Runs read: a state for each row, its weight, and the weighted sum of each run."""

    states: Tensor  # (rows, width)
    weights: Tensor  # (rows,) those of a run sum to 1
    sums: Tensor  # (runs, width)


class Attention(nn.Module):
    """Yang et al. 2016, equations 5 to 7: the weight of a state is how well tanh(W h + b) agrees with a learned vector.

    >>> weights, sums = Attention(4)(torch.randn(3, 4), torch.tensor([0, 2, 3]))
    >>> weights.shape, sums.shape, round(weights[2].item(), 4)
    (torch.Size([3]), torch.Size([2, 4]), 1.0)
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(width, width)
        self.context = nn.Linear(width, 1, bias=False)

    def forward(self, states: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor]:
        """The weights within each run, and the weighted sums: (rows,), (runs, width)."""
        scores = self.context(torch.tanh(self.hidden(states)))  # (rows, 1)
        run = segment_ids(offsets)
        lifted = (scores - segment_max(scores.detach(), offsets)[run]).exp()
        weights = lifted / segment_sum(lifted, offsets)[run]
        return weights[:, 0], segment_sum(weights * states, offsets)


class Level(nn.Module):
    """A bidirectional GRU over each run of rows, then attention over its states."""

    def __init__(self, width_in: int, width: int) -> None:
        super().__init__()
        self.recurrence = nn.GRU(width_in, width // 2, bidirectional=True)
        self.attention = Attention(width)

    def forward(self, rows: Tensor, lengths: Tensor) -> Weighed:
        """(rows, width in), and how long each run is, on the CPU."""
        states = run_over(self.recurrence, rows, lengths)
        return Weighed(states, *self.attention(states, offsets_of(lengths).to(rows.device)))


def run_over(recurrence: nn.Module, rows: Tensor, lengths: Tensor) -> Tensor:
    """The states of a recurrence over many runs at once, without padding: (rows, width in) -> (rows, width).

    The runs are laid out as torch packs them: the first rows of all runs, the longest run first, then the second rows.
    """
    order = lengths.argsort(descending=True, stable=True)
    steps = torch.arange(int(lengths.max()))[:, None]
    there = steps < lengths[order]  # (steps, runs)
    places = (offsets_of(lengths)[:-1][order] + steps)[there].to(rows.device)
    packed, _ = recurrence(PackedSequence(rows[places], there.sum(1)))
    return torch.empty_like(packed.data).index_copy(0, places, packed.data)
