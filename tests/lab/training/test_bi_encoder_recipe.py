"""What every recipe over labelled pairs shares."""

import numpy as np
import pytest
import torch

from longmatch.lab.training.bi_encoder_recipe import LAID_OUT
from longmatch.lab.training.data.labels import PairTable
from longmatch.lab.training.settings import TrainingSettings
from longmatch.lab.training.train import find_recipe
from tests.lab.training.synthetic.classes import common_words, write_pairs


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
    alone = recipe._document_vectors(few)
    assert torch.allclose(recipe._document_vectors(many), alone[torch.from_numpy(many)], atol=1e-5)
