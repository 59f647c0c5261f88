"""One level of a hierarchical attention network: a GRU over each run of rows, then attention over its states."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from longmatch.lab.encoders.ragged import offsets_of, segment_softmax, segment_sum


class AttendedRuns(NamedTuple):
    """The output for runs of rows: a state and a weight per row, and the weighted sum of each run."""

    states: Tensor  # (rows, width)
    weights: Tensor  # (rows,) sum to 1 over a run
    sums: Tensor  # (runs, width)


class ContextAttention(nn.Module):
    """Yang et al. 2016, equations 5 to 7: a state's weight is the softmax of tanh(W h + b) times a learned vector.

    >>> weights, sums = ContextAttention(4)(torch.randn(3, 4), torch.tensor([0, 2, 3]))
    >>> weights.shape, sums.shape, round(weights[2].item(), 4)
    (torch.Size([3]), torch.Size([2, 4]), 1.0)
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(width, width)
        self.context = nn.Linear(width, 1, bias=False)

    def forward(self, states: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor]:
        """The weights within each run, and the weighted sums: (rows,), (runs, width)."""
        weights = segment_softmax(self.context(torch.tanh(self.hidden(states))), offsets)  # (rows, 1)
        return weights[:, 0], segment_sum(weights * states, offsets)


class AttentiveGRU(nn.Module):
    """A bidirectional GRU over each run of rows, then attention over its states."""

    def __init__(self, width_in: int, width: int) -> None:
        super().__init__()
        self.recurrence = nn.GRU(width_in, width // 2, bidirectional=True)
        self.attention = ContextAttention(width)

    def forward(self, rows: Tensor, lengths: Tensor) -> AttendedRuns:
        """Encode rows (rows, width_in) in runs of the given lengths (on the CPU)."""
        states = run_recurrence(self.recurrence, rows, lengths)
        return AttendedRuns(states, *self.attention(states, offsets_of(lengths).to(rows.device)))


def run_recurrence(recurrence: nn.Module, rows: Tensor, lengths: Tensor) -> Tensor:
    """The states of a recurrent network over many runs at once, without padding: (rows, width_in) -> (rows, width).

    The rows are packed as torch expects: the first rows of all runs, longest run first, then the second rows, ...
    """
    order = lengths.argsort(descending=True, stable=True)
    steps = torch.arange(int(lengths.max()))[:, None]
    exists = steps < lengths[order]  # (steps, runs)
    places = (offsets_of(lengths)[:-1][order] + steps)[exists].to(rows.device)
    packed, _ = recurrence(PackedSequence(rows[places], exists.sum(1)))
    return torch.empty_like(packed.data).index_copy(0, places, packed.data)
