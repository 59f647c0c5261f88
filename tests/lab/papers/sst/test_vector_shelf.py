"""Sentence vectors on disk: what the backbone gives, made once, whole or not at all."""

import numpy as np
import pytest

from longmatch.documents.read import read_text_string
from longmatch.encoders.backbone import Backbone
from longmatch.lab.papers.sst.vector_shelf import VectorShelf
from longmatch.lab.store.shelf import TokenShelf

TEXTS = ("The river rose. Houses were flooded. Help came.", "It rained.", "A bridge is closed. People left the town.")


@pytest.fixture(scope="module")
def small(tiny_bert) -> Backbone:
    return Backbone.load(str(tiny_bert), device="cpu", precision="float32")


@pytest.fixture
def shelf(tmp_path, small) -> TokenShelf:
    documents = [read_text_string(text, id=str(number)) for number, text in enumerate(TEXTS)]
    return TokenShelf.build(tmp_path / "tokens", documents, small.tokenizer)


def build(tmp_path, shelf, backbone, documents=(0, 2), most=2) -> VectorShelf:
    return VectorShelf.build(tmp_path / "cache", shelf, np.array(documents), backbone, most)


def made(tmp_path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (tmp_path / "cache").glob("*.npy")}


def test_a_documents_vectors_are_those_of_its_first_sentences(tmp_path, shelf, small):
    vectors = build(tmp_path, shelf, small)
    tokens = shelf[2]
    expected = small.encode(
        [tokens.ids[a:b] for a, b in np.lib.stride_tricks.sliding_window_view(tokens.sentence_offsets, 2)]
    )
    np.testing.assert_allclose(vectors[2], expected, atol=1e-3)
    assert vectors[0].shape == (2, 32) and vectors[0].dtype == np.float32
    assert len(vectors[1]) == 0  # not asked for


def test_what_is_there_is_not_made_again_but_for_other_documents_lengths_or_weights(tmp_path, shelf, small, tiny_bert):
    build(tmp_path, shelf, small)
    before = made(tmp_path)
    build(tmp_path, shelf, small)
    assert made(tmp_path) == before and len(before) == 1
    build(tmp_path, shelf, small, documents=(0, 1))
    build(tmp_path, shelf, small, most=1)
    changed = Backbone.load(str(tiny_bert), device="cpu", precision="float32")
    next(changed.model.parameters()).data[5] += 1
    build(tmp_path, shelf, changed)
    assert len(made(tmp_path)) == 4


def test_what_was_left_in_part_is_made_again(tmp_path, shelf, small):
    vectors = build(tmp_path, shelf, small)
    (path,) = (tmp_path / "cache").glob("*.npy")
    path.with_suffix(".partial").write_bytes(path.read_bytes()[:100])
    path.unlink()
    np.testing.assert_array_equal(build(tmp_path, shelf, small)[0], vectors[0])
    assert not list((tmp_path / "cache").glob("*.partial"))
