"""NPMI coherence, worked by hand."""

from math import log

import numpy as np
import pytest
import scipy.sparse as sp

from longmatch.documents import read_text_string
from longmatch.lab.baselines.topics.lda import Lda, LdaMatcher, coherence
from longmatch.models.loading import load
from tests.lab.baselines.topics.synthetic_topics import TOPICS, made_documents

# Four texts over the words a, b, c, d: a and b always together, c sometimes with them, d never with c.
TEXTS = sp.csr_array(np.array([[3, 1, 0, 2], [1, 1, 4, 0], [0, 0, 1, 0], [0, 0, 0, 5]]))
COUNTS = (2, 4, 8)


def two_words(first: int, second: int) -> np.ndarray:
    topic = np.zeros((1, 4))
    topic[0, [first, second]] = 0.6, 0.4
    return topic


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        ((0, 1), 1.0),  # p(a) = p(b) = p(a, b) = 1/2: ln 2 / ln 2
        ((0, 2), 0.0),  # p(a) = p(c) = 1/2, p(a, c) = 1/4: independent
        ((2, 3), -1.0),  # never in one text
    ],
)
def test_two_words_worked_by_hand(pair, expected):
    assert coherence(two_words(*pair), TEXTS, words=2) == pytest.approx(expected)


def test_a_topic_is_the_mean_of_its_pairs_and_all_topics_the_mean_of_theirs():
    assert coherence(np.array([[0.5, 0.3, 0.2, 0.0]]), TEXTS, words=3) == pytest.approx((1 + 0 + 0) / 3)
    both = np.concatenate([two_words(0, 1), two_words(2, 3)])
    assert coherence(both, TEXTS, words=2) == pytest.approx(0.0)


def test_words_of_every_text_say_nothing_and_uneven_shares_count():
    texts = sp.csr_array(np.array([[1, 1, 1], [1, 1, 0], [1, 1, 1], [1, 1, 0]]))
    assert coherence(np.array([[0.5, 0.4, 0.1]]), texts, words=2) == 0.0
    texts = sp.csr_array(np.array([[1, 1], [1, 0], [1, 0], [0, 0]]))  # p = 3/4, 1/4, together 1/4
    assert coherence(np.array([[0.6, 0.4]]), texts, words=2) == pytest.approx(log(4 / 3) / log(4))


@pytest.fixture(scope="module")
def made():
    return made_documents()


@pytest.fixture(scope="module")
def lda() -> LdaMatcher:
    return LdaMatcher(COUNTS)


@pytest.fixture(scope="module")
def fitted(lda, made):
    encodings = lda.encode(made)
    return encodings, lda.collect(encodings)


def test_documents_of_a_topic_are_more_alike_than_of_two(lda, fitted):
    encodings, collection = fitted
    same = np.arange(len(encodings)) % TOPICS
    for number in range(8):
        scores = lda.score(encodings[number], collection)
        assert scores[same == same[number]].min() > scores[same != same[number]].max()
        assert scores[number] == pytest.approx(1, abs=1e-6) and (scores >= 0).all()


def test_coherence_chooses_the_number_of_topics_there_are(fitted):
    assert len(fitted[1].topics.words) == TOPICS


def test_a_query_of_its_own_finds_its_topic(lda, fitted):
    for number, query in enumerate(lda.encode(made_documents(each=1, seed=7))):
        best = np.argsort(-lda.score(query, fitted[1]))[:5]
        assert set(best % TOPICS) == {number}


def test_the_order_of_documents_changes_no_score(lda, fitted):
    encodings, collection = fitted
    backward = lda.collect(encodings[::-1])
    np.testing.assert_allclose(lda.score(encodings[3], backward)[::-1], lda.score(encodings[3], collection), atol=1e-9)


def test_a_document_of_unknown_words_is_like_nothing(lda, fitted):
    query = lda.encode([read_text_string("Nothing here is known.", "other")])[0]
    assert lda.score(query, fitted[1]).tolist() == [0.0] * len(fitted[0])


def test_the_score_of_a_rank_is_that_of_the_explanation(lda, fitted):
    encodings, collection = fitted
    scores = lda.score(encodings[0], collection)
    for number in (1, 4, 5):
        match = lda.explain(encodings[0], encodings[number], collection)
        assert match.score == pytest.approx(scores[number], abs=1e-9)
        assert sum(x.contribution for x in match.alignments) == pytest.approx(1)
        assert match.passages.scores.shape == (12, 12)


def test_a_lone_pair_has_the_topics_of_its_paragraphs_and_scores_1_with_itself(lda, made):
    assert lda.compare(made[0], made[0]).score == pytest.approx(1, abs=1e-6)
    assert lda.compare(made[0], made[1]).score < lda.compare(made[0], made[4]).score


def test_documents_with_no_telling_word_score_0(lda):
    a, b = read_text_string("Rain fell.", "a"), read_text_string("Dust rose.", "b")
    match = lda.compare(a, b)
    assert (match.score, match.alignments) == (0.0, ())
    assert lda.collect(lda.encode([a, b])).proportions.tolist() == [[0.0], [0.0]]


def test_the_words_of_a_topic_are_chances(fitted):
    lda: Lda = fitted[1].topics
    np.testing.assert_allclose(lda.words.sum(1), 1.0)
    np.testing.assert_allclose(fitted[1].proportions.sum(1), 1.0)


def test_it_opens_by_name_without_a_backbone():
    assert isinstance(load("lda"), LdaMatcher)
