"""Which sentences share what makes two documents alike."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmatch.lexical import links
from longmatch.lexical.frequencies import Frequencies
from longmatch.lexical.links import link_sentences, shared_terms
from longmatch.lexical.terms import Stream
from longmatch.lexical.weights import tfidf

DOCUMENTS = st.lists(st.lists(st.integers(1, 8), max_size=5), min_size=1, max_size=5)


def stream_of(sentences: list[list[int]]) -> Stream:
    ids = np.array([word for sentence in sentences for word in sentence], dtype=np.uint64)
    return Stream(ids, np.cumsum([0, *map(len, sentences)]))


def linked(a: list[list[int]], b: list[list[int]], weight: float = 1.0):
    mine, theirs = stream_of(a), stream_of(b)
    idf = Frequencies.of([mine.counts, theirs.counts])
    shared = shared_terms(tfidf(mine.counts, idf), tfidf(theirs.counts, idf))
    return shared, link_sentences([(mine, theirs)], [shared], [weight])


@given(DOCUMENTS, DOCUMENTS)
def test_sentences_carry_the_whole_similarity_by_their_share_of_each_shared_term(a, b):
    shared, both = linked(a, b, weight=3.0)
    mass = dict(zip(shared.ids.tolist(), (3.0 * shared.mass).tolist(), strict=True))
    for sentences, links_ in zip((a, b), both, strict=True):
        everything = [word for sentence in sentences for word in sentence]
        plain = [sum(mass.get(w, 0.0) / everything.count(w) for w in sentence) for sentence in sentences]
        assert links_.mass.tolist() == pytest.approx(plain)
        assert links_.mass.sum() == pytest.approx(sum(mass.values()))


@given(DOCUMENTS, DOCUMENTS)
def test_a_partner_shares_a_term_and_there_is_none_where_nothing_is_shared(a, b):
    _, (forward, backward) = linked(a, b)
    for sentences, others, found in ((a, b, forward), (b, a, backward)):
        for sentence, partner in zip(sentences, found.partner.tolist(), strict=True):
            answers = [i for i, other in enumerate(others) if set(other) & set(sentence)]
            assert partner in answers if answers else partner == -1


def test_the_partner_is_the_sentence_that_shares_most():
    _, (forward, backward) = linked([[1, 2, 3], [4]], [[1], [2, 3], [4, 1]])
    assert forward.partner.tolist() == [1, 2]
    assert backward.partner.tolist() == [0, 0, 1]


def test_the_commonest_terms_go_first_where_there_are_too_many_pairs(monkeypatch):
    monkeypatch.setattr(links, "PAIRS", 4)
    _, (forward, _) = linked([[1, 2], [1], [1]], [[1], [1], [2]])  # term 1 links nine pairs, term 2 one
    assert forward.partner.tolist() == [2, -1, -1]
