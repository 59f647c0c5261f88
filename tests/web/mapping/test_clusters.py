"""Clusters: scikit-learn's k-means and silhouette are the judges."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score

from longmatch.web.mapping.clusters import centred_units, cluster, distance_matrix, k_means, silhouette
from longmatch.web.mapping.layout import layout
from tests.web.mapping.samples import gaussians


def judge(vectors, seed):
    """The clusters of scikit-learn: as many as have the highest silhouette."""
    vectors = centred_units(vectors)
    fits = [KMeans(k, n_init=2, random_state=seed).fit_predict(vectors) for k in range(2, 13)]
    return max(fits, key=lambda labels: silhouette_score(vectors, labels))


def unrelated(count, seed=0):
    """Vectors that hardly have anything in common, a little more with those of their own half."""
    chance = np.random.default_rng(seed)
    halves = np.repeat([1.0, -1.0], [count // 2, count - count // 2])[:, None] * chance.standard_normal(40)
    vectors = 0.5 * halves + chance.standard_normal((count, 40))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def inertia(vectors, labels):
    return sum(np.square(vectors[labels == n] - vectors[labels == n].mean(0)).sum() for n in np.unique(labels))


@pytest.mark.parametrize(("groups", "noise"), [(4, 0.8), (7, 1.0), (9, 1.3)])
def test_true_groups_are_found_as_scikit_learn_finds_them(groups, noise):
    vectors, labels = gaussians(400, groups, noise)
    expected = adjusted_rand_score(labels, judge(vectors, 0))
    assert adjusted_rand_score(labels, cluster(vectors)) >= expected - 0.02


def test_example_documents_are_grouped_as_scikit_learn_groups_them(collection):
    vectors, labels = collection
    expected = np.mean([adjusted_rand_score(labels, judge(vectors, seed)) for seed in range(3)])
    assert adjusted_rand_score(labels, cluster(vectors)) >= expected - 0.02


def test_more_documents_than_are_judged_are_clustered_too(monkeypatch):
    monkeypatch.setattr("longmatch.web.mapping.clusters.JUDGED", 80)
    vectors, labels = gaussians(600, 5, 0.7)
    assert adjusted_rand_score(labels, cluster(vectors)) > 0.98


@pytest.mark.parametrize("k", [2, 5, 9])
def test_k_means_settles_as_close_to_its_centres_as_scikit_learn(k):
    vectors = centred_units(gaussians(300, 6, 1.5)[0])
    best = min(inertia(vectors, labels) for labels in k_means(vectors, k, 4))
    assert best <= 1.01 * KMeans(k, n_init=4, random_state=0).fit(vectors).inertia_


@pytest.mark.parametrize("k", [2, 3, 8])
def test_silhouette_is_that_of_scikit_learn(k):
    vectors = centred_units(gaussians(60, 5, 1.5)[0])
    labels = np.random.default_rng(0).integers(0, k, 60)
    labels[0] = k  # alone in its cluster
    assert silhouette(distance_matrix(vectors), labels) == pytest.approx(silhouette_score(vectors, labels), abs=1e-5)


def test_copies_of_few_documents_are_as_many_clusters():
    vectors, _ = gaussians(3, 3, 1.0)
    labels = np.repeat(np.arange(3), [12, 9, 6])
    assert cluster(vectors[labels]).tolist() == labels.tolist()


def test_clusters_are_the_same_every_time():
    vectors, _ = gaussians(300, 6, 2.0)
    assert np.array_equal(cluster(vectors), cluster(vectors.copy()))


def test_the_map_is_drawn_without_scikit_learn():
    code = (
        "import sys, numpy as np; from longmatch.web.mapping import clusters, layout;"
        "vectors = np.random.default_rng(0).random((40, 8), dtype=np.float32);"
        "clusters.cluster(vectors); layout.layout(vectors); print({'sklearn', 'threadpoolctl'} & set(sys.modules))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "set()"


def test_hardly_related_documents_make_as_many_groups_as_a_reader_expects_each_a_region_of_the_map():
    vectors = unrelated(36)
    assert len(np.unique(judge(vectors, 0))) == 2  # by the silhouette alone
    places = layout(vectors)
    labels = cluster(vectors, places)
    assert 4 <= len(np.unique(labels)) <= 8 and np.bincount(labels).max() <= 18
    centres = np.stack([places[labels == n].mean(0) for n in range(labels.max() + 1)])
    nearest = np.linalg.norm(places[:, None] - centres, axis=2).argmin(1)
    assert np.array_equal(nearest, labels)


def test_hardly_related_documents_do_not_fall_into_pairs():
    chance = np.random.default_rng(3)
    pairs = np.repeat(chance.standard_normal((13, 40)), 2, axis=0) + 1.6 * chance.standard_normal((26, 40))
    vectors = (pairs / np.linalg.norm(pairs, axis=1, keepdims=True)).astype(np.float32)
    assert len(np.unique(judge(vectors, 0))) > 8  # by the silhouette alone
    assert 4 <= len(np.unique(cluster(vectors, layout(vectors)))) <= 8
