"""Gradient caching gives the gradient of the whole batch at once."""

import pytest
import torch
from torch import nn

from longmatch.lab.losses import supervised_contrastive_loss
from longmatch.lab.training.gradient_cache import cached_backward

LABELS = torch.tensor([0, 0, 1, 1, 2, 2, 0, 1])


def network(dropout):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Dropout(dropout), nn.Linear(12, 5))


def loss(vectors):
    return supervised_contrastive_loss(vectors, LABELS)


def gradients(model):
    return torch.cat([p.grad.flatten() for p in model.parameters()])


@pytest.mark.parametrize("dropout", [0.0, 0.5])
@pytest.mark.parametrize("sizes", [[8], [4, 4], [1, 2, 5]])
def test_cached_gradients_equal_those_of_the_whole_batch(dropout, sizes):
    rows = torch.randn(8, 6, generator=torch.Generator().manual_seed(3))
    plain, cached = network(dropout), network(dropout)
    torch.manual_seed(5)
    whole = loss(torch.cat([plain(piece) for piece in rows.split(sizes)]))
    whole.backward()
    torch.manual_seed(5)
    value = cached_backward(cached, rows.split(sizes), loss)
    assert value.item() == pytest.approx(whole.item(), abs=1e-6)
    assert torch.allclose(gradients(plain), gradients(cached), atol=1e-6)


def test_random_numbers_go_on_as_if_each_piece_was_encoded_once():
    rows = torch.randn(8, 6)
    model = network(0.5)
    torch.manual_seed(5)
    [model(piece) for piece in rows.split(4)]
    expected = torch.rand(3)
    torch.manual_seed(5)
    cached_backward(model, rows.split(4), loss)
    assert torch.equal(torch.rand(3), expected)


def test_gradients_add_up_over_batches():
    rows = torch.randn(8, 6)
    once, twice = network(0.0), network(0.0)
    cached_backward(once, rows.split(4), loss)
    for _ in range(2):
        cached_backward(twice, rows.split(4), loss)
    assert torch.allclose(2 * gradients(once), gradients(twice), atol=1e-6)


@pytest.mark.parametrize("sizes", [[8], [3, 5]])
def test_weights_of_the_loss_itself_have_their_gradient(sizes):
    rows, weight = torch.randn(8, 6), torch.ones(5, requires_grad=True)
    cached_backward(network(0.0), rows.split(sizes), lambda vectors: (vectors * weight).sum())
    expected = network(0.0)(rows).sum(0)
    assert weight.grad is not None and torch.allclose(weight.grad, expected, atol=1e-5)
