"""Vectors of sentences, by token vectors and by a transformer."""

import numpy as np
import pytest

from longmatch.default.matcher import HybridMatcher
from longmatch.default.meaning import encode_sentences, encode_texts, load_backbone
from longmatch.documents.read import read_text_string
from longmatch.encoders.backbone import Backbone
from longmatch.encoders.pretrained import TOKEN_VECTORS
from longmatch.encoders.token_vectors import TokenVectors
from longmatch.lexical.form import content_words
from longmatch.ragged import unit_rows

TEXT = """# Flood

The river rose over its banks. (1) The harbour was closed for two days.

Fig. 2(b).

Cranes lifted what the water had left.
"""


@pytest.fixture(scope="module")
def table() -> TokenVectors:
    return TokenVectors.load()


def test_a_sentence_is_the_sum_of_the_tokens_of_its_content_words(table):
    document = read_text_string(TEXT)
    ((sentences, vectors),) = encode_sentences([document], table)
    rows = table.table.astype(np.float64) * table.scales[:, None]
    for number, found in enumerate(vectors):
        words = content_words(sentences.readable(number))
        if words:
            ids = [id for word in words for id in table.tokenizer.encode(word, add_special_tokens=False).ids]
            assert np.allclose(found, unit_rows(rows[ids].sum(0)), atol=1e-5)
            assert sentences.lengths[number] == len(ids)


def test_a_sentence_without_words_has_the_vector_of_the_one_before(table):
    document = read_text_string(TEXT)
    ((sentences, vectors),) = encode_sentences([document], table)
    (empty,) = [n for n in range(len(sentences)) if not content_words(sentences.readable(n))]
    assert empty > 0 and np.array_equal(vectors[empty], vectors[empty - 1])


def test_a_document_without_words_has_vectors_of_zeros(table):
    encoding = HybridMatcher(table).encode([read_text_string("Fig. 2(b). Table 3.")])[0]
    assert not encoding.sentence_vectors.vectors.any() and not encoding.vector.any()


def test_a_documents_vector_is_the_mean_of_its_sentences_and_a_parts_that_of_its_own(table):
    encoding = HybridMatcher(table).encode([read_text_string(TEXT)])[0]
    sentences = encoding.sentence_vectors
    assert np.allclose(encoding.vector, unit_rows(sentences.vectors.sum(0)), atol=1e-6)
    rows = np.array([1, 0])
    part = encoding.vectors.part(rows)
    assert np.allclose(part.sentences.vectors, sentences.vectors[rows], atol=1e-6)
    assert np.allclose(part.sentences.expectations, sentences.expectations[rows], atol=1e-5)
    assert np.allclose(part.document, unit_rows(sentences.vectors[rows].sum(0)), atol=1e-6)


def test_a_background_or_a_probe_is_summed_as_sentences_are(table):
    first, nothing, second = encode_texts(table, ["The river rose", "", "the river ROSE"])
    assert np.array_equal(first, second) and not nothing.any()


def test_names_open_the_table_or_a_transformer(table, tiny_bert, tmp_path):
    table.save(tmp_path)
    assert load_backbone(TOKEN_VECTORS) is TokenVectors.load() is load_backbone()
    assert isinstance(load_backbone(str(tmp_path)), TokenVectors)
    assert isinstance(load_backbone(str(tiny_bert)), Backbone)
