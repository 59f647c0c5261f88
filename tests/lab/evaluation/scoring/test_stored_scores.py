"""Stored, shared and sliced encodings give the scores the models give themselves."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from longmatch.default.matcher import HybridMatcher
from longmatch.encoders.backbone import Backbone
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.scoring import slices
from longmatch.lab.evaluation.scoring.pairs import scorer_of
from longmatch.lab.evaluation.scoring.scorer import InMemoryScorer
from longmatch.lab.store import store
from longmatch.lab.store.files import LayerWriter
from longmatch.lab.store.store import LayerStore
from longmatch.lab.store.tokens import TokenLayer, restore_tokens
from longmatch.matching.matcher import Matcher
from longmatch.models.loading import load
from longmatch.units import Tokens, tokenize

QUERIES = [0, 7, 19]


@pytest.fixture
def many_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shards of a few documents, slices of a few shards."""
    monkeypatch.setattr(store, "CHARACTERS", 40_000)
    monkeypatch.setattr(slices, "CPU_SENTENCES", 700)


@pytest.fixture(scope="module")
def tiny(tiny_bert: Path) -> Backbone:
    return Backbone.load(str(tiny_bert), precision="float32")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One store for all models, as an evaluation has it."""
    return tmp_path_factory.mktemp("store")


def rows(matcher: Matcher, corpus: Corpus, folder: Path) -> list[np.ndarray]:
    scorer = scorer_of(matcher)
    assert not isinstance(scorer, InMemoryScorer)
    stored = LayerStore.of(folder, corpus.source).build(scorer.layers)
    assert all(len(layer.shards) > 3 for layer in stored)
    scorer.open(stored, corpus)
    return [scores for _, scores in scorer.scores(QUERIES) if scores is not None]


def plain(matcher: Matcher, corpus: Corpus) -> list[np.ndarray]:
    scorer = InMemoryScorer(matcher)
    scorer.open([], corpus)
    return [scores for _, scores in scorer.scores(QUERIES) if scores is not None]


RULES = ("sdr", "sdr-plain", "sdr-section", "sdr-paragraph", "sdr-centred", "first", "cls", "mean", "mean-centred")


@pytest.mark.parametrize("name", ["tfidf", "phrases", "bm25", *RULES])
@pytest.mark.usefixtures("many_slices")
def test_stored_scores_are_the_models_own(name: str, example_corpus: Corpus, tiny: Backbone, shared: Path) -> None:
    matcher = load(name, tiny)
    for mine, theirs in zip(rows(matcher, example_corpus, shared), plain(matcher, example_corpus), strict=True):
        tolerance = 0.03 if name.startswith("sdr") else 1e-3  # half precision; z-scores are wider than cosines
        np.testing.assert_allclose(mine, theirs, atol=tolerance)


@pytest.mark.usefixtures("many_slices")
def test_the_defaults_stored_scores_rank_as_its_own(
    matcher: HybridMatcher, example_corpus: Corpus, tmp_path: Path
) -> None:
    for mine, theirs in zip(rows(matcher, example_corpus, tmp_path), plain(matcher, example_corpus), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=2e-3)
        np.testing.assert_array_equal(np.argsort(-mine)[:5], np.argsort(-theirs)[:5])


def test_models_with_one_backbone_share_sentence_vectors(tiny: Backbone) -> None:
    keys = {scorer_of(load(name, tiny)).layers[0].key for name in ("sdr", "sdr-section", "sdr-paragraph", "mean")}
    assert len(keys) == 1


def test_another_backbone_has_vectors_of_its_own(tiny: Backbone, tiny_roberta: Path) -> None:
    other = Backbone.load(str(tiny_roberta), precision="float32")
    assert scorer_of(load("sdr", tiny)).layers[0].key != scorer_of(load("sdr", other)).layers[0].key


@pytest.mark.usefixtures("many_slices")
def test_encoding_goes_on_where_it_was_interrupted(
    example_corpus: Corpus, tiny: Backbone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer = scorer_of(load("sdr", tiny)).layers[0]
    made: list[int] = []
    add = LayerWriter.add

    def stop_after_two(self: LayerWriter, *args) -> None:
        if self._layer is layer:
            if len(made) == 2:
                raise KeyboardInterrupt
            made.append(self.documents)
        add(self, *args)

    monkeypatch.setattr(LayerWriter, "add", stop_after_two)
    with pytest.raises(KeyboardInterrupt):
        LayerStore.of(tmp_path, example_corpus.source).build([layer])
    again: list[int] = []
    monkeypatch.setattr(LayerWriter, "add", lambda self, *args: (again.append(self.documents), add(self, *args))[1])
    stored = LayerStore.of(tmp_path, example_corpus.source).build([layer])[0]
    assert made + again == [first for first, _ in stored.ranges]
    assert len(stored) == len(example_corpus)


def test_a_model_that_reads_tokens_reads_no_document_again(
    example_corpus: Corpus, tiny: Backbone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, cls = (scorer_of(load(name, tiny)).layers[0] for name in ("first", "cls"))
    LayerStore.of(tmp_path, example_corpus.source).build([first])
    monkeypatch.setattr(Corpus, "_lines", lambda self: pytest.fail("the documents were read again"))
    (stored,) = LayerStore.of(tmp_path, example_corpus.source).build([cls])
    assert len(stored) == len(example_corpus)
    assert not stored.unhandled


def test_stored_tokens_are_those_of_the_documents(example_corpus: Corpus, tiny: Backbone, tmp_path: Path) -> None:
    (stored,) = LayerStore.of(tmp_path, example_corpus.source).build([TokenLayer(tiny.tokenizer)])
    documents = example_corpus.documents(example_corpus.ids)
    for id, arrays in zip(example_corpus.ids, stored.documents(), strict=True):
        mine, theirs = restore_tokens(arrays, documents[id]), tokenize(documents[id], tiny.tokenizer)
        for field in fields(Tokens):
            if field.name != "document":
                np.testing.assert_array_equal(getattr(mine, field.name), getattr(theirs, field.name))
