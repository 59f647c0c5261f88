"""CIG's concept graph, worked by hand on two short documents."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longmatch.lab.baselines.cig.concepts import (
    FEATURES,
    ConceptGraph,
    assign,
    communities,
    concept_graph,
    keywords_of,
    similarities,
)
from longmatch.lab.words import WordMatrix
from longmatch.lexical.terms import Stream
from tests.effort import tried

from . import plain_concepts

THE, TREE, LEAF, BANK, COIN, DOG = range(6)


class ByWord:
    """The first word is common, all others are rare alike."""

    def idf(self, terms):
        return np.where(np.asarray(terms) == THE, 0.1, 1.0)


def graph_of(a: Stream, b: Stream, keywords: int) -> ConceptGraph:
    return concept_graph(WordMatrix.of(a), WordMatrix.of(b), ByWord(), keywords)


def stream(*sentences: list[int]) -> Stream:
    offsets = np.concatenate([[0], np.cumsum([len(s) for s in sentences])]).astype(np.int64)
    return Stream(np.array([w for s in sentences for w in s], np.uint64), offsets)


def counts(*sentences: list[int]) -> csr_array:
    """How often each sentence holds each of the words 0 to 9."""
    return csr_array(np.array([np.bincount(s, minlength=10) for s in sentences], dtype=np.float64))


def text(*words: int) -> np.ndarray:
    return np.bincount(np.array(words, dtype=np.int64), minlength=10).astype(np.float64)[None]


IDF = np.array([0.1, *[1.0] * 9])


def alike(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return similarities(x, y, IDF)[0]


# a speaks of trees and of banks; b of trees, and of something else.
A = stream([THE, TREE, LEAF], [TREE, LEAF], [THE, BANK, COIN])
B = stream([TREE, LEAF, LEAF], [THE], [DOG, THE])


def test_keywords_are_the_heaviest_words_of_either_document():
    # a: TREE and LEAF twice each, then BANK and COIN, of which the first; b: LEAF twice, then TREE and DOG.
    both = np.concatenate([text(*A.ids.tolist()), text(*B.ids.tolist())])
    assert keywords_of(both, IDF, most=2).tolist() == [TREE, LEAF]
    assert keywords_of(both, IDF, most=3).tolist() == [TREE, LEAF, BANK, DOG]
    assert keywords_of(both, IDF, most=50).tolist() == [THE, TREE, LEAF, BANK, COIN, DOG]  # there are no more


def test_keywords_of_the_same_sentences_are_one_concept():
    sentences = counts(*(half.tolist() for one in (A, B) for half in np.split(one.ids.astype(int), one.offsets[1:-1])))
    found = communities(np.array([TREE, LEAF, BANK, COIN, DOG]), sentences)
    assert [members.tolist() for members in found] == [[TREE, LEAF], [BANK, COIN], [DOG]]


def test_two_circles_of_keywords_with_one_sentence_between_them_are_two_concepts():
    sentences = counts([1, 2, 3], [1, 2], [2, 3], [4, 5, 6], [4, 5], [5, 6], [3, 4])
    found = communities(np.arange(1, 7), sentences)
    assert [members.tolist() for members in found] == [[1, 2, 3], [4, 5, 6]]


def test_a_sentence_goes_to_the_concept_it_is_most_like_and_one_without_a_keyword_to_none():
    concepts = [np.array([TREE, LEAF]), np.array([BANK, COIN])]
    sentences = counts([TREE, BANK, COIN], [LEAF], [THE, DOG], [TREE, BANK])
    assert assign(sentences, concepts, IDF).tolist() == [1, 0, 2, 0]
    assert assign(sentences, [], IDF).tolist() == [0, 0, 0, 0]


def test_the_graph_worked_by_hand():
    graph = graph_of(A, B, 3)
    assert [c.tolist() for c in graph.concepts] == [[TREE, LEAF], [BANK], [DOG], []]
    assert graph.a.tolist() == [0, 0, 1] and graph.b.tolist() == [0, 3, 2]
    trees, bank, dog, none = graph.features
    assert trees[5:].tolist() == [1.0, 0.0]  # sentences of both, and keywords
    assert bank.tolist() == [0, 0, 0, 0, 0, 0, 0] and dog.tolist() == [0, 0, 0, 0, 0, 0, 0]
    assert none.tolist() == [0, 0, 0, 0, 0, 0, 1]  # a sentence of b alone, without a keyword
    # At the trees: a has TREE 2, LEAF 2, THE 1, b has TREE 1, LEAF 2.
    assert trees[1] == pytest.approx((2 * 1 + 2 * 2) / (3 * sqrt(5)))
    assert trees[3] == pytest.approx(2 / 3) and trees[4] == pytest.approx(2 / sqrt(6))


def test_similarities_worked_by_hand():
    tfidf, tf, bm25, jaccard, ochiai = alike(text(TREE, LEAF), text(TREE, BANK))
    assert (tfidf, tf, bm25, jaccard, ochiai) == pytest.approx((0.5, 0.5, 0.5, 1 / 3, 0.5))
    assert alike(text(TREE, THE), text(THE, TREE)) == pytest.approx([1.0] * 5)
    assert alike(text(TREE), text(LEAF)).tolist() == [0.0] * 5
    assert alike(text(), text(LEAF)).tolist() == [0.0] * 5


def test_frequent_words_count_less_and_less_in_bm25():
    # TREE: four times is 4 / 5.5, once is 1 / 2.5. Found in the other: both of these; in themselves LEAF and BANK too.
    found = alike(text(TREE, TREE, TREE, TREE, LEAF), text(TREE, BANK))[2]
    assert found == pytest.approx((4 / 5.5 + 0.4) / (4 / 5.5 + 0.4 + 0.4 + 0.4))


WORDS = st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=5), min_size=1, max_size=6)


@given(WORDS, WORDS)
@settings(deadline=None, max_examples=tried(25))
def test_the_other_way_round_the_graph_is_the_same(first, second):
    there, back = (graph_of(stream(*x), stream(*y), 4) for x, y in ((first, second), (second, first)))
    assert there.features.shape == (len(there), FEATURES) and there.links.shape == (len(there), len(there))
    assert (there.links == pytest.approx(there.links.T)) and (there.features >= 0).all() and (there.features <= 1).all()
    assert set(there.a.tolist()) | set(there.b.tolist()) == set(range(len(there)))  # every node holds sentences
    assert len(there.a) == len(first) and len(there.b) == len(second)
    np.testing.assert_allclose(there.whole, back.whole)
    assert there.a.tolist() == back.b.tolist() and there.b.tolist() == back.a.tolist()
    np.testing.assert_allclose(there.features, back.features)


@given(WORDS, WORDS, st.integers(1, 6))
@settings(deadline=None, max_examples=tried(30))
def test_the_graph_is_that_of_sentence_by_sentence_and_node_by_node(first, second, keywords):
    found = graph_of(stream(*first), stream(*second), keywords)
    slow = plain_concepts.concept_graph(stream(*first), stream(*second), ByWord(), keywords)
    assert [c.tolist() for c in found.concepts] == [c.tolist() for c in slow.concepts]
    assert found.a.tolist() == slow.a.tolist() and found.b.tolist() == slow.b.tolist()
    for name in ("features", "links", "whole"):
        np.testing.assert_allclose(getattr(found, name), getattr(slow, name), atol=1e-12)
