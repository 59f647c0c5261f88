"""TF-IDF equals scikit-learn's, BM25 its formula, on the example collection."""

from collections import Counter
from dataclasses import replace
from math import log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from longmatch.default.statistics import shipped_statistics
from longmatch.documents import Document
from longmatch.documents.language import words_of
from longmatch.lexical.matcher import LexicalMatcher, bm25_matcher, phrase_matcher, tfidf_matcher
from longmatch.lexical.terms import Counts, hash_word
from longmatch.lexical.weights import (
    Blend,
    Frequencies,
    TermBackground,
    TermMatrix,
    Weighted,
    read_term_background,
    shipped_background,
    tfidf,
)

TERMS = np.array([3, 4, 8], dtype=np.uint64)
NOTHING = Frequencies(0, np.array([], dtype=np.uint64), np.array([]))
WORDS = np.array([3, 5, 2**63 + 7], dtype=np.uint64)
PHRASES = np.array([11, 13], dtype=np.uint64)
FOREIGN, UNKNOWN = WORDS[1], 4


def words(document: Document) -> list[str]:
    return [word for s in document.sentences for word in words_of(s.of(document.readable))]


def phrases(document: Document) -> list[str]:
    lists = [words_of(s.of(document.readable)) for s in document.sentences]
    return [" ".join(w[i : i + n]) for w in lists for n in (2, 3) for i in range(len(w) - n + 1)]


def all_scores(matcher: LexicalMatcher, documents: list[Document]) -> np.ndarray:
    encodings = matcher.encode(documents)
    collection = matcher.collect(encodings)
    return np.stack([matcher.score(query, collection) for query in encodings])


@pytest.mark.parametrize(("make", "analyzer"), [(tfidf_matcher, words), (phrase_matcher, phrases)])
def test_tfidf_is_that_of_scikit_learn(examples, make, analyzer):
    documents = list(examples.values())
    matrix = TfidfVectorizer(sublinear_tf=True, analyzer=analyzer).fit_transform(documents)
    assert np.abs(all_scores(make(), documents) - (matrix @ matrix.T).toarray()).max() < 1e-9


def test_bm25_is_its_formula(examples):
    documents = list(examples.values())[:12]
    counts = [Counter(words(document)) for document in documents]
    mean_length = sum(c.total() for c in counts) / len(counts)

    def weight(term: str, candidate: Counter) -> float:
        holders = sum(term in c for c in counts)
        idf = log(1 + (len(counts) - holders + 0.5) / (holders + 0.5))
        length = 1 - 0.75 + 0.75 * candidate.total() / mean_length
        return idf * candidate[term] / (candidate[term] + 1.5 * length)

    def plain(query: Counter, candidate: Counter) -> float:
        return sum(times * weight(term, candidate) for term, times in query.items())

    expected = [[plain(q, c) / plain(q, q) for c in counts] for q in counts]
    assert np.abs(all_scores(bm25_matcher(), documents) - np.array(expected)).max() < 1e-9


def test_tfidf_of_two_words_worked_by_hand():
    counts = Counts(np.array([1, 2], dtype=np.uint64), np.array([1, 3]))
    frequencies = Frequencies(3, np.array([1], dtype=np.uint64), np.array([1.0]))
    one, two = (1 + log(1)) * (log(4 / 2) + 1), (1 + log(3)) * (log(4 / 1) + 1)
    length = (one**2 + two**2) ** 0.5
    assert tfidf(counts, frequencies).values.tolist() == pytest.approx([one / length, two / length])


def test_a_matrix_scores_as_the_dot_products_of_its_rows():
    rows = [
        Weighted(np.array([1, 5], dtype=np.uint64), np.array([0.5, 2.0])),
        Weighted(np.array([], dtype=np.uint64), np.array([])),
        Weighted(np.array([2, 5, 9], dtype=np.uint64), np.array([1.0, 3.0, 4.0])),
    ]
    query = Weighted(np.array([1, 2, 5, 7], dtype=np.uint64), np.array([2.0, 1.0, 10.0, 6.0]))
    assert TermMatrix.of(rows).scores(query).tolist() == [query.dot(row) for row in rows] == [21.0, 0.0, 31.0]


def test_nothing_scores_nothing():
    empty = Weighted(np.array([], dtype=np.uint64), np.array([]))
    assert TermMatrix.of([]).scores(empty).tolist() == []
    assert TermMatrix.of([empty, empty]).scores(empty).tolist() == [0.0, 0.0]


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


@pytest.fixture
def made() -> TermBackground:
    """Three words, of which the second is foreign, and two phrases."""
    words = Frequencies(10_000.0, WORDS, np.array([9_000.0, 40.0, 20.0]))
    phrases = Frequencies(10_000.0, PHRASES, np.array([500.0, 1.0]))
    return TermBackground(words, phrases, everyday=WORDS[:1], foreign=WORDS[1:2])


def test_words_of_a_foreign_language_are_known_and_not_familiar(made: TermBackground) -> None:
    asked = np.array([*WORDS, UNKNOWN], dtype=np.uint64)
    assert made.known(asked).tolist() == [True, True, True, False]
    assert made.familiar(asked).tolist() == [True, False, True, False]


def test_words_and_phrases_have_their_own_frequencies(made: TermBackground) -> None:
    assert made.frequencies("words") is made.words and made.frequencies("phrases") is made.phrases


def test_it_comes_back_from_disk(made: TermBackground, tmp_path: Path) -> None:
    made.write(tmp_path / "frequencies.safetensors")
    again = read_term_background(tmp_path / "frequencies.safetensors")
    for name in ("words", "phrases"):
        before, after = getattr(made, name), getattr(again, name)
        assert after.documents == before.documents
        assert after.ids.dtype == np.uint64 and after.ids.tolist() == before.ids.tolist()
        assert after.counts.tolist() == before.counts.tolist()
    assert (again.everyday.tolist(), again.foreign.tolist()) == (made.everyday.tolist(), made.foreign.tolist())


def test_everyday_words_of_what_ships_are_familiar_and_foreign_ones_are_not() -> None:
    shipped = shipped_background()
    assert len(shipped.everyday) and shipped.familiar(shipped.everyday).all()
    assert not shipped.familiar(shipped.foreign).any()
