"""Equation 1 against the plain loop."""

from math import log

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from longmatch.lab.words.similarity import textrank_similarity, to_unit
from longmatch.lab.words.text_words import stream_of

SENTENCES = st.lists(st.lists(st.integers(0, 12), max_size=9), max_size=12)


def plainly(sentences):
    """Equation 1 as it is written, a sentence of one word counting as one of two."""
    found = np.zeros((len(sentences), len(sentences)))
    for i, one in enumerate(sentences):
        for j, other in enumerate(sentences):
            found[i, j] = len(set(one) & set(other)) / (log(max(len(one), 2)) + log(max(len(other), 2)))
    return found


@given(SENTENCES)
def test_the_product_gives_what_the_loop_over_pairs_gives(sentences):
    np.testing.assert_allclose(textrank_similarity(stream_of(sentences)), plainly(sentences), rtol=1e-12)


def test_two_sentences_worked_by_hand():
    river = [1, 2, 3, 1]  # "the river rises the": four words, three of them distinct
    kiln = [1, 4]
    found = textrank_similarity(stream_of([river, kiln]))
    np.testing.assert_allclose(found[0, 1], 1 / (log(4) + log(2)))
    np.testing.assert_allclose(found[0, 0], 3 / (2 * log(4)))


def test_sentences_of_one_word_have_a_finite_similarity():
    found = textrank_similarity(stream_of([[1], [1], [2], []]))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[0], [1 / log(4), 1 / log(4), 0, 0])


@given(SENTENCES)
def test_for_a_picture_everything_lies_between_0_and_1(sentences):
    unit = to_unit(textrank_similarity(stream_of(sentences)))
    assert (unit >= 0).all() and (unit <= 1 + 1e-12).all()
    assert (np.diag(unit) == 1).all()
