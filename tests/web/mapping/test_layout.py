"""The layout: scikit-learn's PCA and t-SNE are the judges."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE, trustworthiness

from longmatch.web.mapping import layout as module
from longmatch.web.mapping.layout import Pairs, gaussian_shares, joint_similarities, layout, principal, product, tsne
from tests.web.mapping.samples import gaussians


def judge(vectors):
    """The places that scikit-learn finds."""
    perplexity = min(30.0, (len(vectors) - 1) / 4)
    reduced = PCA(min(50, len(vectors) - 1), random_state=0).fit_transform(vectors)
    return TSNE(2, perplexity=perplexity, init="pca", random_state=0, max_iter=600).fit_transform(reduced)


def trust(vectors, places):
    return trustworthiness(vectors, places, n_neighbors=min(10, len(vectors) // 4))


@pytest.mark.parametrize(("groups", "noise"), [(1, 1.0), (6, 1.0), (10, 2.0)])
def test_neighbours_remain_neighbours_as_with_scikit_learn(groups, noise):
    vectors, _ = gaussians(300, groups, noise)
    assert trust(vectors, layout(vectors)) >= 0.98 * trust(vectors, judge(vectors))


def test_example_documents_remain_neighbours_as_with_scikit_learn(collection):
    vectors, _ = collection
    assert trust(vectors, layout(vectors)) >= 0.98 * trust(vectors, judge(vectors))


def test_the_layout_is_the_same_every_time():
    vectors, _ = gaussians(200, 4, 2.0)
    assert np.array_equal(layout(vectors), layout(vectors.copy()))


@pytest.mark.parametrize(("count", "width"), [(200, 10), (200, 50), (12, 50), (4, 2)])
def test_principal_directions_are_those_of_pca(count, width):
    vectors, _ = gaussians(count, 5, 1.0)
    found, expected = principal(vectors, width), PCA(min(width, count - 1)).fit_transform(vectors)
    assert np.linalg.norm(found, axis=0)[:10] == pytest.approx(np.linalg.norm(expected, axis=0)[:10], rel=1e-2)
    assert np.abs(found[:, :2]) == pytest.approx(np.abs(expected[:, :2]), abs=1e-3)


@pytest.mark.parametrize(
    "vectors", [np.repeat(np.eye(3), 10, 0), np.outer(np.arange(12), np.ones(5)), np.eye(30)[:, :1]]
)
def test_vectors_with_few_directions_have_places(vectors):
    places = layout(vectors.astype(np.float32))
    assert np.isfinite(places).all() and places.min() >= 0 and places.max() <= 1


@pytest.mark.parametrize("shape", [(1, 1, 1), (700, 384, 5), (3, 9000, 700), (130, 60, 131)])
def test_a_product_in_pieces_is_the_product(shape):
    chance = np.random.default_rng(0)
    left, right = chance.standard_normal(shape[:2]), chance.standard_normal(shape[1:])
    assert product(left, right) == pytest.approx(left @ right)


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
    similarities = joint_similarities(gaussians(70, 3, 1.0)[0], 10.0)
    places = np.random.default_rng(0).standard_normal((2, 70)).astype(np.float32)
    expected = plain_gradient(similarities.astype(float), places.astype(float), exaggeration)
    assert Pairs(similarities).gradient(places, exaggeration) == pytest.approx(expected, rel=1e-3, abs=1e-6)


def test_the_gradient_is_finite_for_places_far_away():
    similarities = joint_similarities(gaussians(40, 3, 1.0)[0], 5.0)
    places = (1e5 + np.random.default_rng(0).standard_normal((2, 40))).astype(np.float32)
    assert np.isfinite(Pairs(similarities).gradient(places, 1.0)).all()


@pytest.mark.parametrize("perplexity", [2.0, 10.0, 30.0])
def test_each_row_has_the_perplexity_asked_for(perplexity):
    squared = np.square(np.random.default_rng(0).standard_normal((50, 100))).astype(np.float32)
    shares = gaussian_shares(squared, perplexity).astype(float)
    entropy = -(shares * np.log(np.maximum(shares, 1e-30))).sum(1)
    assert np.exp(entropy) == pytest.approx(np.full(50, perplexity), rel=1e-3)


def test_similarities_are_symmetric_and_sum_to_1():
    similarities = joint_similarities(gaussians(80, 3, 1.0)[0], 15.0)
    assert np.array_equal(similarities, similarities.T) and not similarities.diagonal().any()
    assert similarities.sum(dtype=float) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("count", [10, 11, 25])
def test_few_vectors_have_finite_places(count):
    assert np.isfinite(tsne(gaussians(count, 2, 1.0)[0], (count - 1) / 4)).all()
