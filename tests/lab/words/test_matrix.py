"""Sparse word matrices against the similarity of all sentences, written out."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from longmatch.documents.read import read_text_string
from longmatch.lab.encoders.checkpoint import open_tokenizer
from longmatch.lab.words.matrix import WordMatrix, WordMatrixCache
from longmatch.lab.words.similarity import textrank_similarity
from longmatch.lab.words.text_words import concatenated, stream_of
from longmatch.lab.words.token_words import TokenWords
from longmatch.units import tokenize

DOCUMENT = st.lists(st.lists(st.integers(0, 9), max_size=6), min_size=1, max_size=7)


@given(DOCUMENT, DOCUMENT)
def test_sentences_are_as_alike_as_in_the_whole_matrix_of_both_documents(first, second):
    a, b = stream_of(first), stream_of(second)
    whole, size = textrank_similarity(concatenated(a, b)), len(first)
    one, other = WordMatrix.of(a), WordMatrix.of(b)
    np.testing.assert_allclose(one.shared(other).toarray(), whole[:size, size:], atol=1e-6)
    np.fill_diagonal(whole, 0.0)
    np.testing.assert_allclose(one.within.toarray(), whole[:size, :size], atol=1e-6)
    np.testing.assert_allclose(other.within.toarray(), whole[size:, size:], atol=1e-6)


def test_words_are_counted_as_often_as_they_stand_in_a_sentence():
    found = WordMatrix.of(stream_of([[7, 3, 7], [], [3]]))
    assert found.words.tolist() == [3, 7]
    assert found.counts.toarray().tolist() == [[1, 2], [0, 0], [1, 0]]
    assert found.distinct.tolist() == [2, 0, 1] and found.lengths.tolist() == [3, 0, 1]


def test_a_document_is_read_once_as_long_as_it_is_among_the_last(tiny_bert):
    tokenizer = open_tokenizer(str(tiny_bert)).backend_tokenizer
    documents = [tokenize(read_text_string(text), tokenizer) for text in ("A river.", "A bank.", "A bird.")]
    read = []
    words = TokenWords.of(tokenizer).words
    matrices = WordMatrixCache(lambda tokens: read.append(tokens) or words(tokens), size=2)
    first = matrices(documents[0])
    assert matrices(documents[1]) is matrices(documents[1]) and matrices(documents[0]) is first
    assert len(read) == 2
    matrices(documents[2])
    matrices(documents[1])  # was forgotten
    assert len(read) == 4
