"""The packaged model's vectors: the same whatever the batch, and those of sentence-transformers."""

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from longmatch.encoders import openvino
from longmatch.encoders.pretrained import default_folder


@pytest.fixture(scope="module")
def sentences(examples) -> list[str]:
    """Real sentences of every length, in three formats and one more language."""
    documents = [
        examples[name] for name in ("coming-back-slowly.md", "the-living-edge.html", "tower-repair-report.pdf")
    ]
    found = [s.of(d.text) for d in documents for s in d.sentences][::3]
    return [*found, "本院认为，被告应当承担责任。", "Yes.", " ".join(found[:8])]


@pytest.fixture(scope="module")
def vectors(backbone, sentences) -> np.ndarray:
    return backbone.encode_texts(sentences)


@pytest.fixture
def budgeted(backbone, monkeypatch):
    def encode(texts: list[str], budget: int) -> np.ndarray:
        monkeypatch.setattr(openvino, "TOKEN_BUDGET", budget)
        return backbone.encode_texts(texts)

    return encode


def test_vectors_are_those_of_sentence_transformers(sentences, vectors):
    theirs = SentenceTransformer(str(default_folder()), device="cpu").encode(sentences)
    assert np.abs(vectors - theirs).max() < 1e-4


def test_vectors_have_length_one(backbone, vectors):
    assert vectors.shape[1] == backbone.width == 384
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("budget", [1, 200, 8_192])
def test_vectors_do_not_depend_on_the_size_of_batches(budgeted, sentences, vectors, budget):
    assert np.abs(budgeted(sentences, budget) - vectors).max() < 1e-5


def test_vectors_do_not_depend_on_the_order(backbone, sentences, vectors):
    order = np.random.default_rng(0).permutation(len(sentences))
    shuffled = backbone.encode_texts([sentences[i] for i in order])
    assert np.abs(shuffled - vectors[order]).max() < 1e-5


def test_the_packaged_model_reads_254_tokens_between_its_special_ones(backbone):
    assert backbone.max_tokens == 254


def test_a_piece_that_is_too_long_is_refused_and_not_cut(backbone):
    with pytest.raises(ValueError, match="a piece has 255 tokens"):
        backbone.encode([np.full(255, 2000, dtype=np.int64)])


def test_progress_counts_every_token(backbone, sentences):
    seen: list[int] = []
    pieces = [np.full(length, 2000, dtype=np.int64) for length in (3, 50, 7, 254)]
    backbone.encode(pieces, seen.append)
    assert sum(seen) == 314


def test_no_pieces_give_no_vectors(backbone):
    assert backbone.encode([]).shape == (0, 384)
