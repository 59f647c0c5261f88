"""t-SNE against its equations, written out in double precision."""

import numpy as np
import pytest

from longmatch.web.mapping import tsne as module
from longmatch.web.mapping.tsne import _gaussian, _Pairs, _similarities, tsne
from tests.web.mapping.samples import gaussians


def plain_gradient(similarities, places, exaggeration):
    """Equation 5, pair by pair."""
    difference = places[:, :, None] - places[:, None]  # (2, vectors, vectors)
    kernel = 1 / (1 + np.square(difference).sum(0))
    np.fill_diagonal(kernel, 0)
    return 4 * ((exaggeration * similarities - kernel / kernel.sum()) * kernel * difference).sum(2)


@pytest.mark.parametrize("pairs", [1, 64, 1000, 100_000])
@pytest.mark.parametrize("exaggeration", [1.0, 12.0])
def test_the_gradient_is_that_of_the_equation(monkeypatch, pairs, exaggeration):
    monkeypatch.setattr(module, "PAIRS", pairs)  # of many blocks, of few, of one
    similarities = _similarities(gaussians(70, 3, 1.0)[0], 10.0)
    places = np.random.default_rng(0).standard_normal((2, 70)).astype(np.float32)
    expected = plain_gradient(similarities.astype(float), places.astype(float), exaggeration)
    assert _Pairs(similarities).gradient(places, exaggeration) == pytest.approx(expected, rel=1e-3, abs=1e-6)


def test_the_gradient_is_finite_for_places_far_away():
    similarities = _similarities(gaussians(40, 3, 1.0)[0], 5.0)
    places = (1e5 + np.random.default_rng(0).standard_normal((2, 40))).astype(np.float32)
    assert np.isfinite(_Pairs(similarities).gradient(places, 1.0)).all()


@pytest.mark.parametrize("perplexity", [2.0, 10.0, 30.0])
def test_each_row_has_the_perplexity_asked_for(perplexity):
    squared = np.square(np.random.default_rng(0).standard_normal((50, 100))).astype(np.float32)
    shares = _gaussian(squared, perplexity).astype(float)
    entropy = -(shares * np.log(np.maximum(shares, 1e-30))).sum(1)
    assert np.exp(entropy) == pytest.approx(np.full(50, perplexity), rel=1e-3)


def test_similarities_are_symmetric_and_sum_to_1():
    similarities = _similarities(gaussians(80, 3, 1.0)[0], 15.0)
    assert np.array_equal(similarities, similarities.T) and not similarities.diagonal().any()
    assert similarities.sum(dtype=float) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("count", [10, 11, 25])
def test_few_vectors_have_finite_places(count):
    assert np.isfinite(tsne(gaussians(count, 2, 1.0)[0], (count - 1) / 4)).all()
