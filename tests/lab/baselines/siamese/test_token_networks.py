"""A GRU over many runs at once reads each of them as if it were alone."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from longmatch.lab.baselines.siamese.token_networks import AttentiveGRU, ContextAttention
from longmatch.lab.encoders.ragged import PackedOrder, offsets_of

RUNS = st.lists(st.integers(1, 7), min_size=1, max_size=6)


@settings(deadline=None)  # the machine may be busy
@given(RUNS)
def test_every_run_is_read_alone(lengths):
    torch.manual_seed(0)
    gru, rows = torch.nn.GRU(3, 2, bidirectional=True), torch.randn(sum(lengths), 3)
    order = PackedOrder.of(offsets_of(torch.tensor(lengths)))
    found = order.unpack(gru(order.pack(rows))[0])
    wanted = torch.cat([gru(run[:, None])[0][:, 0] for run in rows.split(lengths)])
    assert torch.allclose(found, wanted, atol=1e-6)


@settings(deadline=None)  # the machine may be busy
@given(RUNS)
def test_attention_is_a_softmax_over_each_run(lengths):
    torch.manual_seed(0)
    attention, states = ContextAttention(4), 20 * torch.randn(sum(lengths), 4)
    weights, sums = attention(states, offsets_of(torch.tensor(lengths)))
    for run, own, total in zip(states.split(lengths), weights.split(lengths), sums, strict=True):
        wanted = torch.softmax(attention.context(torch.tanh(attention.hidden(run)))[:, 0], dim=0)
        assert torch.allclose(own, wanted, atol=1e-6)
        assert torch.allclose(total, wanted @ run, atol=1e-4)


def test_gradients_reach_every_weight_of_a_level():
    level = AttentiveGRU(3, 4)
    level(torch.randn(6, 3), torch.tensor([2, 4])).sums.square().sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in level.parameters())
