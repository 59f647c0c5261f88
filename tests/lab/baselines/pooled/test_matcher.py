"""FIRST, CLS and mean: what they read, what they score, and how the score is taken apart."""

import warnings
from pathlib import Path

import numpy as np
import pytest
import torch

from longmatch.documents import Document
from longmatch.errors import LongmatchError, LongmatchWarning
from longmatch.lab.baselines.pooled.matcher import Centring, PooledMatcher
from longmatch.lab.encoders.backbone import TorchBackbone
from longmatch.models.loading import load
from longmatch.ragged import unit_rows
from longmatch.units import tokenize


@pytest.fixture(scope="module")
def tiny(tiny_bert: Path) -> TorchBackbone:
    return TorchBackbone.load(str(tiny_bert), device="cpu")


@pytest.fixture(scope="module")
def pair(examples: dict[str, Document]) -> list[Document]:
    return [examples["coming-back-slowly.md"], examples["the-living-edge.html"]]


def hidden(backbone: TorchBackbone, document: Document) -> torch.Tensor:
    """The last layer over the start token, as many tokens as fit, and the end token."""
    ids = tokenize(document, backbone.tokenizer).ids[: backbone.max_tokens]
    whole = torch.tensor([[backbone.first_token, *ids.tolist(), backbone.last_token]])
    with torch.inference_mode():
        return backbone.model(input_ids=whole).last_hidden_state[0]


def test_first_is_the_mean_of_the_first_tokens(tiny: TorchBackbone, pair: list[Document]) -> None:
    a, b = (torch.nn.functional.normalize(hidden(tiny, d).mean(0), dim=0) for d in pair)
    encodings = PooledMatcher("first", tiny).encode(pair)
    np.testing.assert_allclose(encodings[0].vector, a.numpy(), atol=1e-5)
    collection = PooledMatcher("first", tiny).collect(encodings)
    np.testing.assert_allclose(
        PooledMatcher("first", tiny).score(encodings[0], collection), [1, float(a @ b)], atol=1e-5
    )


def test_cls_is_the_start_tokens_vector(tiny: TorchBackbone, pair: list[Document]) -> None:
    wanted = torch.nn.functional.normalize(hidden(tiny, pair[0])[0], dim=0)
    np.testing.assert_allclose(PooledMatcher("cls", tiny).encode(pair)[0].vector, wanted.numpy(), atol=1e-5)


def test_mean_weighs_each_sentence_by_its_tokens(tiny: TorchBackbone, pair: list[Document]) -> None:
    encoding = PooledMatcher("mean", tiny).encode(pair)[0]
    total = sum(
        int(length) * vector for length, vector in zip(encoding.sentences.lengths, encoding.vectors, strict=True)
    )
    np.testing.assert_allclose(encoding.vector, unit_rows(total), atol=1e-5)


@pytest.mark.parametrize("rule", ["first", "cls"])
def test_a_model_that_reads_the_opening_says_so(rule: str, tiny: TorchBackbone, pair: list[Document]) -> None:
    with pytest.warns(LongmatchWarning, match="reads only the opening"):
        match = load(rule, tiny).compare(*pair)
    read = tiny.max_tokens / len(tokenize(pair[0], tiny.tokenizer))
    assert match.coverage.a == pytest.approx(read)
    assert match.alignments[0].a.text.startswith(pair[0].text[match.alignments[0].a.start :][:20])


def test_means_contributions_sum_to_one_and_a_document_scores_one_with_itself(
    tiny: TorchBackbone, pair: list[Document]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the mean reads everything
        match = load("mean", tiny).compare(*pair)
    assert sum(alignment.contribution for alignment in match.alignments) == pytest.approx(1.0)
    assert (match.coverage.a, match.coverage.b) == (1.0, 1.0)
    assert load("mean", tiny).compare(pair[0], pair[0]).score == pytest.approx(1.0, abs=1e-5)


def test_any_backbone_serves_by_its_folder(tiny_bert: Path, pair: list[Document]) -> None:
    matcher = load(f"sdr@{tiny_bert}")
    assert matcher.name == f"sdr@{tiny_bert}"
    assert 0 <= matcher.compare(*pair).score <= 1
    assert matcher.compare(pair[0], pair[0]).score == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("name", ["tfidf@x", "bm25@x"])
def test_a_model_without_a_choice_of_backbone_says_so(name: str) -> None:
    with pytest.raises(LongmatchError, match="takes no backbone"):
        load(name)


@pytest.fixture
def rows() -> np.ndarray:
    """Vectors with a large common part and four wide directions, as those of a raw language model."""
    random = np.random.default_rng(0)
    wide = random.normal(size=(500, 4)) @ random.normal(size=(4, 400)) * 3
    return random.normal(size=(500, 400)) + wide + 5


def test_neither_the_mean_nor_the_widest_directions_are_left(rows):
    centring = Centring.of([rows])
    centred = centring.apply(rows)
    assert centring.top.shape == (4, 400)  # one in a hundred
    assert np.linalg.norm(centred, axis=1) == pytest.approx(np.ones(500))
    assert np.abs(centred @ centring.top.T).max() < 1e-9 and np.abs(centred.mean(0)).max() < 0.02
    cosines = (centred @ centred.T)[np.triu_indices(500, 1)]
    plain = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    assert np.abs(cosines).mean() < 0.06 < (plain @ plain.T)[np.triu_indices(500, 1)].mean()


def test_parts_and_torch_give_what_the_whole_gives_in_numpy(rows):
    whole = Centring.of([rows]).apply(rows[:3])
    np.testing.assert_allclose(Centring.of([rows[:100], rows[100:]]).apply(rows[:3]), whole, atol=1e-9)
    tensor = torch.from_numpy(rows)
    np.testing.assert_allclose(Centring.of([tensor]).apply(tensor[:3]).numpy(), whole, atol=1e-9)
