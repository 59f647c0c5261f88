"""Dropout as compiled code draws it takes its share, of any place alike, and the same on the way back."""

import torch

from longmatch.encoders.packed.dropout import dropped, hashed

PLACES = torch.zeros(2_000, 384)


def test_the_numbers_are_spread_evenly_and_know_nothing_of_each_other():
    numbers = torch.stack([hashed(PLACES, torch.tensor(seed, dtype=torch.int32)) for seed in (5, -(2**31), 6)])
    assert numbers.min() >= 0
    unit = numbers.double() / 2**31
    assert torch.allclose(unit.flatten().histc(20, 0, 1) / unit.numel(), torch.tensor(0.05).double(), atol=1e-3)
    centred = unit - unit.mean()
    neighbours = (centred[:, :, 1:] * centred[:, :, :-1], centred[:, 1:] * centred[:, :-1], centred[1:] * centred[:-1])
    assert all(abs(product.mean()) < 1e-3 for product in neighbours)
    assert (unit.mean(2) - 0.5).abs().max() < 0.08 and (unit.mean(1) - 0.5).abs().max() < 0.04


def test_compiled_dropout_takes_its_share_and_the_way_back_takes_the_same():
    compiled = torch.compile(dropped, backend="aot_eager")
    x = torch.ones(500, 384, requires_grad=True)
    found = compiled(x, 0.1, torch.tensor(7, dtype=torch.int32))
    (gradient,) = torch.autograd.grad(found.sum(), x)
    assert torch.equal(found.detach(), gradient)
    assert abs((found == 0).float().mean() - 0.1) < 0.005
    assert torch.allclose(found[found != 0], torch.tensor(1 / 0.9))
    torch._dynamo.reset()
