"""Sentence vectors on disk: what the backbone gives, made once, whole or not at all."""

import numpy as np
import pytest

from longmatch.documents.read import read_text_string
from longmatch.lab.encoders.backbone import TorchBackbone
from longmatch.lab.papers.sst.vectors import FirstSentenceVectors
from longmatch.lab.store.layer import Unreadable
from longmatch.lab.store.tokens import TokenCollection
from tests.lab.store.essays import source_of

TEXTS = ("The river rose. Houses were flooded. Help came.", "It rained.", "A bridge is closed. People left the town.")


@pytest.fixture(scope="module")
def small(tiny_bert) -> TorchBackbone:
    return TorchBackbone.load(str(tiny_bert), device="cpu")


def read(number: int):
    return Unreadable("bad", "it is blank") if number < 0 else read_text_string(TEXTS[number], id=str(number))


@pytest.fixture
def tokens(tmp_path, small) -> TokenCollection:
    return TokenCollection.build(tmp_path, source_of([0, -1, 1, 2], read), small.tokenizer)


def build(tokens, backbone, documents=(0, 2), most=2) -> FirstSentenceVectors:
    return FirstSentenceVectors.build(tokens, np.array(documents), backbone, most)


def made(tmp_path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in tmp_path.glob("*/first-sentences-*/vectors.npy")}


def test_a_documents_vectors_are_those_of_its_first_sentences(tokens, small):
    vectors = build(tokens, small)
    expected = small.encode(
        [tokens[2].ids[a:b] for a, b in np.lib.stride_tricks.sliding_window_view(tokens[2].sentence_offsets, 2)]
    )
    np.testing.assert_allclose(vectors[2], expected, atol=1e-3)
    assert vectors[0].shape == (2, 32) and vectors[0].dtype == np.float32
    assert len(vectors[1]) == 0  # not asked for


def test_what_is_there_is_not_made_again_but_for_other_documents_lengths_or_weights(tmp_path, tokens, small, tiny_bert):
    build(tokens, small)
    before = made(tmp_path)
    build(tokens, small)
    assert made(tmp_path) == before and len(before) == 1
    build(tokens, small, documents=(0, 1))
    build(tokens, small, most=1)
    changed = TorchBackbone.load(str(tiny_bert), device="cpu")
    next(changed.model.parameters()).data[5] += 1
    build(tokens, changed)
    assert len(made(tmp_path)) == 4


def test_what_was_left_in_part_is_made_again(tmp_path, tokens, small):
    vectors = build(tokens, small)
    (path,) = made(tmp_path)
    folder = next(tmp_path.glob("*/first-sentences-*[!k]"))
    expected = vectors[0].copy()
    partial = folder.with_name(folder.name + ".partial")
    folder.rename(partial)
    (partial / "vectors.npy").write_bytes((partial / "vectors.npy").read_bytes()[:130])
    (partial / "layer.json").unlink()
    np.testing.assert_array_equal(build(tokens, small)[0], expected)
    assert list(made(tmp_path)) == [path] and not partial.exists()
