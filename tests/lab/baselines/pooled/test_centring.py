"""Centred vectors: the mean and the widest directions of a collection are gone, in numpy and in torch."""

import numpy as np
import pytest
import torch

from longmatch.lab.baselines.pooled.centring import Centring


@pytest.fixture
def rows() -> np.ndarray:
    """Vectors with a large common part and four wide directions, as those of a raw language model."""
    random = np.random.default_rng(0)
    wide = random.normal(size=(500, 4)) @ random.normal(size=(4, 400)) * 3
    return random.normal(size=(500, 400)) + wide + 5


def test_neither_the_mean_nor_the_widest_directions_are_left(rows):
    centring = Centring.of([rows])
    centred = centring.apply(rows)
    assert centring.top.shape == (4, 400)  # one in a hundred
    assert np.linalg.norm(centred, axis=1) == pytest.approx(np.ones(500))
    assert np.abs(centred @ centring.top.T).max() < 1e-9 and np.abs(centred.mean(0)).max() < 0.02
    cosines = (centred @ centred.T)[np.triu_indices(500, 1)]
    plain = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    assert np.abs(cosines).mean() < 0.06 < (plain @ plain.T)[np.triu_indices(500, 1)].mean()


def test_parts_and_torch_give_what_the_whole_gives_in_numpy(rows):
    whole = Centring.of([rows]).apply(rows[:3])
    np.testing.assert_allclose(Centring.of([rows[:100], rows[100:]]).apply(rows[:3]), whole, atol=1e-9)
    tensor = torch.from_numpy(rows)
    np.testing.assert_allclose(Centring.of([tensor]).apply(tensor[:3]).numpy(), whole, atol=1e-9)
