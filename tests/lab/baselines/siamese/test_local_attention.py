"""Attention by blocks is attention under a banded mask."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention

from longmatch.lab.baselines.siamese.local_attention import local_attention


def dense(query, key, value, real, window):
    """The slow, obvious way: the whole square, of which most is masked."""
    places = torch.arange(query.shape[2])
    near = (places[:, None] - places).abs() <= window
    near[0] = True
    near[:, 0] = True
    return scaled_dot_product_attention(query, key, value, attn_mask=near & real[:, None, None])


@settings(deadline=None)  # the machine may be busy
@given(lengths=st.lists(st.integers(1, 40), min_size=1, max_size=3), window=st.integers(1, 12))
def test_a_token_attends_to_its_window_and_the_first_and_the_first_to_all(lengths, window):
    torch.manual_seed(0)
    real = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    states = torch.randn(3, len(lengths), 2, max(lengths), 4)
    found = local_attention(*states, real, window)
    assert torch.allclose(
        found[real[:, None].expand(found.shape[:3])],
        dense(*states, real, window)[real[:, None].expand(found.shape[:3])],
        atol=1e-5,
    )
    assert torch.isfinite(found).all()


def test_what_lies_further_away_than_the_window_has_no_part_in_it():
    states = torch.randn(3, 1, 1, 30, 4, requires_grad=True)
    found = local_attention(*states, torch.ones(1, 30, dtype=torch.bool), window=3)
    (reached,) = torch.autograd.grad(found[0, 0, 15].sum(), states)
    used = reached[1:].abs().sum((0, 1, 2, 4)).nonzero().flatten().tolist()
    assert used == [0, *range(12, 19)]


@pytest.mark.parametrize("tokens", [64, 128])
def test_the_work_grows_with_the_blocks_and_not_with_their_square(tokens):
    from torch.utils.flop_counter import FlopCounterMode

    def count(n):
        with (
            FlopCounterMode(display=False) as counter,
            torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH),
        ):
            local_attention(*torch.randn(3, 1, 1, n, 4), torch.ones(1, n, dtype=torch.bool), window=8)
        return counter.get_total_flops()

    assert count(2 * tokens) == 2 * count(tokens)
