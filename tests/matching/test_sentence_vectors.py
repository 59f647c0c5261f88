"""Sentence vectors of many documents."""

import numpy as np
import pytest

from longmatch.default.statistics import shipped_statistics
from longmatch.documents import read_text_string
from longmatch.encoders.backbone import Backbone
from longmatch.matching import sentence_vectors as vectors
from longmatch.matching.sentence_vectors import sentence_vectors

TEXTS = ["The bank failed. Depositors left.", "It rains.", "Snow fell. " * 5 + "A word " * 100 + "ends."]


@pytest.fixture(scope="module")
def tiny(tiny_bert) -> Backbone:
    return Backbone.load(str(tiny_bert), precision="float32")


@pytest.fixture
def documents():
    return [read_text_string(text, str(i)) for i, text in enumerate(TEXTS)]


def test_every_sentence_has_its_own_vector_and_a_long_one_several(tiny, documents):
    found = list(sentence_vectors(documents, tiny))
    assert [s.document.id for s, _ in found] == ["0", "1", "2"]
    for sentences, rows in found:
        assert len(sentences) == len(rows)
        texts = [passage.text for passage in sentences.passages(np.arange(len(sentences)))]
        assert np.abs(rows - tiny.encode_texts(texts)).max() < 1e-5
    assert len(found[2][0]) > 6


@pytest.mark.parametrize("together", [1, 40, 4_000_000])
def test_how_many_documents_go_together_changes_nothing(tiny, documents, monkeypatch, together):
    expected = [rows for _, rows in sentence_vectors(documents, tiny)]
    monkeypatch.setattr(vectors, "TOKENS", together)
    for (_, rows), before in zip(sentence_vectors(documents, tiny), expected, strict=True):
        assert np.allclose(rows, before, atol=1e-5)


def test_progress_counts_every_document_once(tiny, documents):
    seen: list[int] = []
    list(sentence_vectors(documents, tiny, seen.append))
    assert sum(seen) == 3


def test_the_shipped_background_holds_unrelated_vectors_of_length_1():
    shipped = shipped_statistics().sentences
    background, count = shipped.vectors, len(shipped.vectors)
    assert background.shape == (count, 256) and count % shipped.kinds == 0
    assert np.allclose(np.linalg.norm(background, axis=1), 1, atol=1e-5)
    cosines = background @ background.T
    assert float((cosines.sum() - count) / (count * (count - 1))) < 0.1


def test_the_shipped_frequencies_are_in_rising_order_and_no_term_is_in_more_documents_than_there_are():
    terms = shipped_statistics().terms
    for table in (terms.words, terms.phrases):
        assert (np.diff(table.ids.astype(object)) > 0).all()
        assert table.counts.min() > 0 and table.counts.max() <= table.documents
