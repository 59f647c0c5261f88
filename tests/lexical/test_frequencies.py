"""How rare a term is, by the collection and by the background."""

from dataclasses import replace
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmatch.default.statistics import shipped_statistics
from longmatch.lexical.frequencies import Blend, Frequencies
from longmatch.lexical.terms import Counts, hash_word

TERMS = np.array([3, 4, 8], dtype=np.uint64)
NOTHING = Frequencies(0, np.array([], dtype=np.uint64), np.array([]))


@pytest.fixture
def three_documents() -> Frequencies:
    documents = ([3, 3, 5], [3, 4], [9])
    return Frequencies.of(Counts.of(np.array(terms, dtype=np.uint64)) for terms in documents)


def test_a_term_is_counted_once_a_document(three_documents):
    assert three_documents.documents == 3
    assert three_documents(TERMS).tolist() == [2.0, 1.0, 0.0]


def test_idf_is_smoothed_as_scikit_learn_does_it(three_documents):
    assert three_documents.idf(TERMS).tolist() == pytest.approx([log(4 / 3) + 1, log(4 / 2) + 1, log(4 / 1) + 1])


def test_with_an_unknown_background_the_collection_alone_decides(three_documents):
    alone = Blend(three_documents, NOTHING, worth=0.0).idf(TERMS)
    assert alone.tolist() == pytest.approx([log(4 / 3), log(4 / 2), log(4 / 1)])


def test_with_an_empty_collection_the_background_alone_decides(three_documents):
    alone = Blend(NOTHING, three_documents, worth=30.0).idf(TERMS)
    assert alone.tolist() == pytest.approx([log(31 / 21), log(31 / 11), log(31 / 1)])


def test_both_add_up_worked_by_hand(three_documents):
    background = Frequencies(10, np.array([3, 8], dtype=np.uint64), np.array([5.0, 1.0]))
    blended = Blend(three_documents, background, worth=20.0, power=2.0)
    assert blended.share(TERMS).tolist() == pytest.approx([12 / 23, 1 / 23, 2 / 23])
    assert blended.idf(TERMS).tolist() == pytest.approx([log(24 / 13) ** 2, log(24 / 2) ** 2, log(24 / 3) ** 2])


@given(st.integers(0, 500), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1000))
def test_a_share_lies_between_those_of_collection_and_background(documents, held, common, worth):
    term = np.array([7], dtype=np.uint64)
    collection = Frequencies(documents, term, np.array([held * documents]))
    background = Frequencies(100.0, term, np.array([100 * common]))
    (share,) = Blend(collection, background, worth).share(term).tolist() if documents + worth else [common]
    assert min(common, held) - 1e-9 <= share <= max(common, held) + 1e-9


@pytest.mark.parametrize("held, common", [(0.9, 0.0), (0.0, 0.9)])
def test_a_large_collection_overrules_the_background(held: float, common: float):
    term = np.array([7], dtype=np.uint64)
    background = Frequencies(100.0, term, np.array([100 * common]))
    shares = [
        Blend(Frequencies(n, term, np.array([held * n])), background, worth=200.0).share(term)[0]
        for n in (10, 1_000, 1e6)
    ]
    assert shares == pytest.approx([(10 * held + 200 * common) / 210, (5 * held + common) / 6, held], abs=1e-3)


@given(
    st.lists(st.lists(st.integers(0, 9), max_size=6), max_size=8),
    st.lists(st.lists(st.integers(0, 9), max_size=6), max_size=8),
    st.sampled_from([0.0, 0.5, 3.0]),
    st.floats(0.05, 1),
)
def test_the_common_terms_are_those_of_such_a_share(collection, background, worth, share):
    parts = (Frequencies.of(Counts.of(np.array(d, np.uint64)) for d in texts) for texts in (collection, background))
    blend = Blend(*parts, worth=worth)
    every = np.arange(10, dtype=np.uint64)
    if blend.collection.documents + worth:
        assert blend.common(share).tolist() == every[blend.share(every) >= share].tolist()


def test_rarity_ends_at_one_of_the_documents_that_it_is_told_among(three_documents):
    names = np.array([100], dtype=np.uint64)
    for documents in (1e2, 1e6):
        collection = replace(three_documents, documents=documents)
        assert Blend(collection, NOTHING, worth=0.0, scale=50.0).idf(names)[0] == pytest.approx(log(51))
        assert Blend(collection, NOTHING, worth=0.0).idf(names)[0] == pytest.approx(log(1 + documents))


def test_what_every_document_of_both_holds_weighs_nothing_and_is_a_number():
    everywhere = np.array([7], dtype=np.uint64)
    background = Frequencies(6_000, everywhere, np.array([6_000.0]))
    for documents, worth in (
        (2, 190.0),
        (232, 200 * 0.11836734693877551),
    ):  # in the second, rounding meets the logarithm
        collection = Frequencies(documents, everywhere, np.array([float(documents)]))
        assert 0 <= Blend(collection, background, worth, power=1.5).idf(everywhere)[0] < 1e-12


def test_the_shipped_background_tells_common_words_from_rare_ones():
    background = shipped_statistics().terms.words
    the, bridge, quay, unknown = background(
        np.array([hash_word(w) for w in ("the", "bridge", "quay", "qwzxv")], dtype=np.uint64)
    )
    assert the > 0.99 * background.documents > bridge > quay > unknown == 0
