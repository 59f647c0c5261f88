"""What every recipe over labelled pairs shares."""

import numpy as np
import pytest
import torch
from torch import nn

from longmatch.lab.losses import supervised_contrastive_loss
from longmatch.lab.training.bi_encoder_recipe import LAID_OUT, cached_backward
from longmatch.lab.training.data.labels import PairTable
from longmatch.lab.training.settings import TrainingSettings
from longmatch.lab.training.train import find_recipe
from tests.lab.training.synthetic.classes import common_words, write_pairs

LABELS = torch.tensor([0, 0, 1, 1, 2, 2, 0, 1])


@pytest.fixture(scope="module")
def recipe(tiny_bert, tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    data = write_pairs(folder / "pairs", common_words(tiny_bert / "vocab.txt"))
    kind = find_recipe("first")
    return kind.make([data], folder / "cache", TrainingSettings(), kind.Settings(backbone=str(tiny_bert), opening=20))


def test_pairs_know_each_of_their_documents_once_and_where_it_stands():
    pairs = PairTable(*(np.array(column) for column in ([7, 2, 9], [2, 5, 7], [1, 0, 1])))
    numbers, places = pairs.documents(np.array([2, 0]))
    assert numbers.tolist() == [2, 7, 9]
    assert numbers[places].tolist() == [[9, 7], [7, 2]]


def test_more_documents_than_are_laid_out_at_once_have_their_vectors_in_order(recipe):
    recipe.model.eval()
    few = np.arange(3)
    many = np.resize(few, 2 * LAID_OUT + 5)
    alone = recipe.document_vectors(few)
    assert torch.allclose(recipe.document_vectors(many), alone[torch.from_numpy(many)], atol=1e-5)


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
