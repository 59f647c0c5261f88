"""TF-IDF equals scikit-learn's, BM25 its formula, on the example collection."""

from collections import Counter
from math import log

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from longmatch.documents import Document
from longmatch.documents.language import words_of
from longmatch.lexical.frequencies import Frequencies
from longmatch.lexical.matcher import LexicalMatcher, bm25_matcher, phrase_matcher, tfidf_matcher
from longmatch.lexical.terms import Counts
from longmatch.lexical.weights import TermMatrix, Weighted, tfidf


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
