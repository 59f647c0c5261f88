"""1 less the Jensen-Shannon divergence, against its definition; the vocabulary, by hand."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from longmatch.lab.baselines.topics.proportions import Vocabulary, proportions, topic_similarity
from longmatch.lexical.terms import Counts


@given(st.integers(1, 4), st.integers(1, 5), st.integers(1, 6), st.integers(0, 1000))
def test_the_similarity_is_that_of_the_definition(rows, columns, topics, seed):
    rng = np.random.default_rng(seed)
    first, second = (proportions(rng.random((n, topics)) * (rng.random((n, topics)) < 0.7)) for n in (rows, columns))
    found = topic_similarity(first, second)
    for i, p in enumerate(first):
        for j, q in enumerate(second):
            known = p.sum() > 0 and q.sum() > 0
            np.testing.assert_allclose(found[i, j], 1 - jensenshannon(p, q, 2) ** 2 if known else 0.0, atol=1e-7)


def counts(**words: int) -> Counts:
    pairs = sorted((ord(word), count) for word, count in words.items())
    return Counts(np.array([w for w, _ in pairs], np.uint64), np.array([c for _, c in pairs], np.int64))


TEXTS = [counts(a=1, b=2), counts(a=3, b=1, c=1), counts(a=1, c=2, d=9), counts(a=1, e=1)]


def test_words_of_one_text_or_of_most_texts_tell_nothing():
    assert [chr(i) for i in Vocabulary.of(TEXTS).ids] == ["b", "c"]  # a is in all four, d and e in one
    assert [chr(i) for i in Vocabulary.of(TEXTS, common=1.0).ids] == ["a", "b", "c"]
    assert [chr(i) for i in Vocabulary.of(TEXTS, common=1.0, most=1).ids] == ["a"]


def test_the_matrix_counts_the_known_words_of_each_text():
    found = Vocabulary.of(TEXTS).matrix([*TEXTS, counts(z=4)])
    assert found.toarray().tolist() == [[2, 0], [1, 1], [0, 2], [0, 0], [0, 0]]
    assert Vocabulary.of([]).matrix(TEXTS).shape == (4, 0)
