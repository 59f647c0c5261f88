"""Spectral clustering: against scikit-learn where clusters are clear, and what it does at the edges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score

from longmatch.lab.papers.sst.clustering import renumbered, spectral_clusters
from longmatch.lab.words import stream_of, textrank_similarity
from tests.effort import tried


def topics(sizes, seed):
    """Sentences of clear subtopics: eight words of the subtopic's own twenty, two of a pool all share."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    words = [[*rng.integers(0, 20, 8) + 100 * (topic + 1), *rng.integers(0, 40, 2)] for topic in truth]
    return textrank_similarity(stream_of([list(map(int, sentence)) for sentence in words])), truth


@pytest.mark.parametrize("seed", range(5))
def test_clear_subtopics_are_found_as_scikit_learn_finds_them(seed):
    similarity, truth = topics([9, 6, 8, 5, 7, 7], seed)
    judge = SpectralClustering(6, affinity="precomputed", random_state=0).fit_predict(similarity)
    found = spectral_clusters(similarity, 7.0)  # 42 sentences
    assert adjusted_rand_score(found, judge) > 0.99
    assert adjusted_rand_score(found, truth) > 0.99


@pytest.mark.parametrize(("sentences", "count"), [(80, 13), (40, 7), (12, 2), (7, 1), (2, 1), (1, 1)])
def test_the_number_of_clusters_comes_from_an_expected_size_of_six(sentences, count):
    rng = np.random.default_rng(0)
    similarity = rng.random((sentences, sentences))
    assert len(np.unique(spectral_clusters(similarity + similarity.T))) == count


def test_a_sentence_with_no_neighbour_is_a_cluster_of_its_own():
    similarity = np.zeros((8, 8))
    similarity[:3, :3] = similarity[5:, 5:] = 1.0
    found = spectral_clusters(similarity, 6.0)
    assert found.tolist() == [0, 0, 0, 1, 2, 3, 3, 3]


def test_sentences_that_nothing_connects_never_come_together():
    blocks = np.kron(np.eye(9), np.ones((2, 2)))
    assert spectral_clusters(blocks, 6.0).tolist() == np.repeat(np.arange(9), 2).tolist()


def test_no_sentences_give_no_clusters():
    assert spectral_clusters(np.zeros((0, 0))).tolist() == []


def test_what_a_sentence_is_to_itself_does_not_matter():
    similarity, _ = topics([6, 6, 6], 1)
    assert (spectral_clusters(similarity) == spectral_clusters(similarity + np.diag(np.arange(18.0)))).all()


def test_the_order_of_sentences_does_not_matter():
    similarity, _ = topics([8, 6, 7, 9], 2)
    order = np.random.default_rng(1).permutation(30)
    there, here = spectral_clusters(similarity[np.ix_(order, order)]), spectral_clusters(similarity)[order]
    assert adjusted_rand_score(there, here) > 0.99


def test_the_given_similarity_is_left_as_it_was():
    similarity, _ = topics([5, 5], 3)
    before = similarity.copy()
    spectral_clusters(similarity)
    assert (similarity == before).all()


@settings(max_examples=tried(20), deadline=None)
@given(st.lists(st.lists(st.integers(0, 15), max_size=6), max_size=25))
def test_every_sentence_has_one_cluster_and_numbers_rise_with_appearance(sentences):
    found = spectral_clusters(textrank_similarity(stream_of(sentences)))
    assert len(found) == len(sentences)
    assert (found == renumbered(found)).all()
