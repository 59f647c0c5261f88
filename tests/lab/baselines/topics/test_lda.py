"""NPMI coherence, worked by hand."""

from math import log

import numpy as np
import pytest
import scipy.sparse as sp

from longmatch.lab.baselines.topics.lda import coherence

# Four texts over the words a, b, c, d: a and b always together, c sometimes with them, d never with c.
TEXTS = sp.csr_array(np.array([[3, 1, 0, 2], [1, 1, 4, 0], [0, 0, 1, 0], [0, 0, 0, 5]]))


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
