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
    assert not encoding.sentence_vectors.vectors.any() and not encoding.mean.any()


def test_vectors_are_made_when_they_are_asked_for(table, monkeypatch):
    asked: list[int] = []
    encode = TokenVectors.encode
    monkeypatch.setattr(TokenVectors, "encode", lambda *given: (asked.append(1), encode(*given))[1])
    encoding = HybridMatcher(table).encode([read_text_string(TEXT)])[0]
    before = len(asked)  # for the documents' and the titles' vectors
    assert np.allclose(encoding.mean, unit_rows(encoding.sentence_vectors.vectors.sum(0)), atol=1e-6)
    _ = encoding.sentence_vectors
    assert len(asked) == before + 1


def test_titles_are_sums_too_and_no_title_is_zeros(table):
    first, nothing, second = encode_texts(table, ["The river rose", "", "the river ROSE"])
    assert np.array_equal(first, second) and not nothing.any()


def test_names_open_the_table_or_a_transformer(table, tiny_bert, tmp_path):
    table.save(tmp_path)
    assert load_backbone(TOKEN_VECTORS) is TokenVectors.load() and isinstance(load_backbone(), Backbone)
    assert isinstance(load_backbone(str(tmp_path)), TokenVectors)
    assert isinstance(load_backbone(str(tiny_bert)), Backbone)
