"""Attention over packed sequences gives what torch's own gives for each sequence alone, forth and back."""

import warnings

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from longmatch.errors import LongmatchWarning
from longmatch.lab.encoders.packed import plain_attention as plain
from longmatch.lab.encoders.packed.attention import MAX_ERROR, attend, attention_error, works

LENGTHS = (1, 7, 20, 3)


def sequences(lengths=LENGTHS, dtype=torch.float64):
    torch.manual_seed(0)
    qkv = torch.randn(sum(lengths), 3, 2, 8, dtype=dtype, requires_grad=True)
    return qkv, torch.tensor([0, *lengths]).cumsum(0).int(), max(lengths)


def one_by_one(qkv: torch.Tensor) -> torch.Tensor:
    """The judge: each sequence alone."""
    found = []
    for part in qkv.split(LENGTHS):
        query, key, value = part.permute(1, 2, 0, 3)
        found.append(scaled_dot_product_attention(query[None], key[None], value[None])[0].transpose(0, 1))
    return torch.cat(found)


def test_each_sequence_attends_to_itself_alone():
    qkv, offsets, longest = sequences()
    assert torch.allclose(attend(qkv, offsets, longest), one_by_one(qkv))


def test_the_gradient_is_that_of_each_sequence_alone():
    qkv, offsets, longest = sequences()
    share = torch.randn(len(qkv), 2, 8, dtype=qkv.dtype)
    ours, judge = (
        torch.autograd.grad((found * share).sum(), qkv)[0] for found in (attend(qkv, offsets, longest), one_by_one(qkv))
    )
    assert torch.allclose(ours, judge)


def test_the_backward_pass_drops_what_the_forward_pass_dropped():
    qkv, offsets, longest = sequences()
    share, step = torch.randn(len(qkv), 2, 8, dtype=qkv.dtype), 1e-5 * torch.randn_like(qkv)

    def found(given: torch.Tensor) -> torch.Tensor:
        torch.manual_seed(7)
        return (attend(given, offsets, longest, 0.4) * share).sum()

    (gradient,) = torch.autograd.grad(found(qkv), qkv)
    with torch.no_grad():
        change = (found(qkv + step) - found(qkv - step)) / 2
        assert abs(change - (gradient * step).sum()) < 1e-4 * abs(change)
        assert abs(found(qkv) - (one_by_one(qkv) * share).sum()) > 0.1


def test_dropout_takes_its_share_of_the_weights():
    lengths = (50,) * 8
    qkv = torch.zeros(400, 3, 1, 4)
    qkv[:, 2] = 1  # so each token takes the sum of the weights that are left
    offsets = torch.tensor([0, *lengths]).cumsum(0).int()
    left = attend(qkv, offsets, 50, 0.25)
    assert abs(left.mean() - 1) < 0.02 and 0.05 < left[..., 0].std() < 0.12


def test_a_backend_that_gives_other_numbers_is_detected():
    class Other:
        backward = staticmethod(plain.backward)

        @staticmethod
        def forward(qkv, *others):
            out, *rest = plain.forward(qkv, *others)
            return out + 0.1 * (torch.arange(len(out)) == 3)[:, None, None], *rest

    kind = ((5, 2), torch.float32, 16, torch.device("cpu"))
    assert attention_error(plain, *kind) < 1e-6 and attention_error(Other, *kind) > MAX_ERROR


def test_a_kernel_that_is_near_is_used_without_a_word():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert works("short", lambda: 0.001)


def test_a_kernel_that_is_off_is_left_out_with_a_warning():
    with pytest.warns(LongmatchWarning, match="short kernel is not used .it is off by 0.500"):
        assert not works("short", lambda: 0.5)


def test_a_kernel_that_fails_is_left_out_with_a_warning():
    def fails() -> float:
        raise RuntimeError("no such unit\nand more")

    with pytest.warns(LongmatchWarning, match=r"RuntimeError: no such unit\)"):
        assert not works("layer", fails)
