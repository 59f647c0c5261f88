"""BERTopic's steps: class-based TF-IDF worked by hand, clusters that are known, and the matcher."""

from math import log

import numpy as np
import pytest

from longmatch.documents import read_text_string
from longmatch.lab.baselines.topics.bertopic import BertopicMatcher, ClusterTopics, class_tfidf, cluster
from longmatch.lexical.terms import Counts
from longmatch.models.loading import load


def test_class_based_tfidf_worked_by_hand():
    # Two clusters of 4 and 2 words: A = 3. Word 0: 3 + 1 = 4 times; word 1 once; word 2 once.
    found, weights = class_tfidf(np.array([[3.0, 1.0, 0.0], [1.0, 0.0, 1.0]]))
    assert weights == pytest.approx([log(1 + 3 / 4), log(4), log(4)])
    expected = [[3 / 4 * log(7 / 4), 1 / 4 * log(4), 0], [1 / 2 * log(7 / 4), 0, 1 / 2 * log(4)]]
    np.testing.assert_allclose(found, expected)


def blobs(count: int, each: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    middles = np.linalg.qr(rng.normal(size=(32, count)))[0].T * 5
    vectors = np.concatenate([middle + rng.normal(size=(each, 32)) * 0.3 for middle in middles])
    return vectors, np.repeat(np.arange(count), each)


def test_texts_apart_from_each_other_are_clusters_of_their_own():
    vectors, home = blobs(5, 30)
    labels = cluster(vectors)
    for number in range(5):
        own = labels[home == number]
        most = np.bincount(own[own >= 0]).argmax()
        assert (own == most).mean() > 0.9 and (labels[home != number] != most).all()


def test_too_few_texts_form_no_clusters():
    assert cluster(blobs(2, 5)[0]).tolist() == [-1] * 10
    assert ClusterTopics.fit([Counts.of(np.arange(3, dtype=np.uint64))] * 10, blobs(2, 5)[0]) is None


def test_a_sentence_speaks_of_the_topic_whose_words_it_has():
    vectors, home = blobs(3, 30)
    texts = [Counts.of(np.array([t * 10, t * 10 + 1, t * 10 + 2 + i % 3, 99], np.uint64)) for i, t in enumerate(home)]
    topics = ClusterTopics.fit(texts, vectors)
    topic_weights = topics.topic_weights([texts[0], texts[35], texts[70], Counts.of(np.array([7777], np.uint64))])
    best = topic_weights.argmax(1)[:3]
    assert len(set(best.tolist())) == 3 and (topic_weights[np.arange(3), best] > 0.5).all()
    assert topic_weights[3].tolist() == [0.0] * len(topics.words)  # of unknown words nothing is said


@pytest.fixture(scope="module")
def bertopic(backbone) -> BertopicMatcher:
    return load("bertopic", backbone)


@pytest.fixture(scope="module")
def fitted(bertopic, examples, answer_key):
    chosen = sorted({row["group"] for row in answer_key.values()})[:4]
    encodings = bertopic.encode([d for name, d in examples.items() if answer_key[name]["group"] in chosen])
    return encodings, bertopic.collect(encodings)


def test_documents_of_a_group_have_more_of_their_topics_in_common(bertopic, fitted, answer_key):
    encodings, collection = fitted
    groups = np.array([answer_key[e.sentences.document.id]["group"] for e in encodings])
    scores = np.stack([bertopic.score(encoding, collection) for encoding in encodings])
    same = (groups[:, None] == groups) & ~np.eye(len(groups), dtype=bool)
    assert scores[same].mean() > scores[groups[:, None] != groups].mean() + 0.1
    np.testing.assert_allclose(np.diag(scores), 1.0, atol=1e-6)


def test_the_order_of_documents_changes_no_score(bertopic, fitted):
    encodings, collection = fitted
    backward = bertopic.collect(encodings[::-1])
    assert len(backward.topics.words) == len(collection.topics.words)
    expected = bertopic.score(encodings[3], collection)
    np.testing.assert_allclose(bertopic.score(encodings[3], backward)[::-1], expected, atol=1e-6)


def test_the_score_of_a_rank_is_that_of_the_explanation(bertopic, fitted):
    encodings, collection = fitted
    scores = bertopic.score(encodings[0], collection)
    match = bertopic.explain(encodings[0], encodings[1], collection)
    assert match.score == pytest.approx(scores[1], abs=1e-9)
    assert sum(x.contribution for x in match.alignments) == pytest.approx(1)


def test_a_lone_pair_of_few_paragraphs_has_no_topics_and_scores_0(bertopic):
    a, b = read_text_string("Rain fell hard.", "a"), read_text_string("Rain fell hard.", "b")
    assert bertopic.compare(a, b).score == 0.0
