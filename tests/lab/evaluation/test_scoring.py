"""Stored, shared and sliced encodings give the scores the models give themselves."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from longmatch.default.matcher import HybridMatcher
from longmatch.encoders.backbone import Backbone
from longmatch.lab.evaluation import corpus as corpus_module
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.encodings.store import Store
from longmatch.lab.evaluation.encodings.tokens import DocumentTokens, restore_tokens
from longmatch.lab.evaluation.scoring import slices
from longmatch.lab.evaluation.scoring.anything import AnyScorer
from longmatch.lab.evaluation.scoring.choose import scorer_of
from longmatch.loading import load
from longmatch.matching.matcher import Matcher
from longmatch.units import Tokens, tokenize

QUERIES = [0, 7, 19]


@pytest.fixture
def many_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shards of a few documents, slices of a few shards."""
    monkeypatch.setattr(corpus_module, "CHARACTERS", 40_000)
    monkeypatch.setattr(slices, "CPU_SENTENCES", 700)


@pytest.fixture(scope="module")
def tiny(tiny_bert: Path) -> Backbone:
    return Backbone.load(str(tiny_bert), precision="float32")


def rows(matcher: Matcher, corpus: Corpus, folder: Path) -> list[np.ndarray]:
    scorer = scorer_of(matcher)
    assert not isinstance(scorer, AnyScorer)
    stored = Store(folder, corpus).build(scorer.layers)
    assert all(len(layer.shards) > 3 for layer in stored)
    scorer.open(stored, corpus)
    return [scores for _, scores in scorer.scores(QUERIES) if scores is not None]


def plain(matcher: Matcher, corpus: Corpus) -> list[np.ndarray]:
    scorer = AnyScorer(matcher)
    scorer.open([], corpus)
    return [scores for _, scores in scorer.scores(QUERIES) if scores is not None]


@pytest.mark.parametrize(
    "name", ["tfidf", "phrases", "bm25", "sdr", "sdr-plain", "sdr-paragraph", "first", "cls", "mean"]
)
@pytest.mark.usefixtures("many_slices")
def test_stored_scores_are_the_models_own(name: str, example_corpus: Corpus, tiny: Backbone, tmp_path: Path) -> None:
    matcher = load(name, tiny)
    for mine, theirs in zip(rows(matcher, example_corpus, tmp_path), plain(matcher, example_corpus), strict=True):
        tolerance = 0.01 if name.startswith("sdr") else 1e-3  # half precision; z-scores are wider than cosines
        np.testing.assert_allclose(mine, theirs, atol=tolerance)


@pytest.mark.usefixtures("many_slices")
def test_the_defaults_stored_scores_rank_as_its_own(
    matcher: HybridMatcher, example_corpus: Corpus, tmp_path: Path
) -> None:
    for mine, theirs in zip(rows(matcher, example_corpus, tmp_path), plain(matcher, example_corpus), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=2e-3)
        np.testing.assert_array_equal(np.argsort(-mine)[:5], np.argsort(-theirs)[:5])


def test_models_with_one_backbone_share_sentence_vectors(tiny: Backbone) -> None:
    keys = {scorer_of(load(name, tiny)).layers[0].key for name in ("sdr", "sdr-plain", "sdr-paragraph", "mean")}
    assert len(keys) == 1


def test_another_backbone_has_vectors_of_its_own(tiny: Backbone, tiny_roberta: Path) -> None:
    other = Backbone.load(str(tiny_roberta), precision="float32")
    assert scorer_of(load("sdr", tiny)).layers[0].key != scorer_of(load("sdr", other)).layers[0].key


@pytest.mark.usefixtures("many_slices")
def test_encoding_goes_on_where_it_was_interrupted(
    example_corpus: Corpus, tiny: Backbone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer = DocumentTokens(tiny.tokenizer)
    made: list[int] = []
    write = Store._write

    def stop_after_two(self: Store, layer, index: int, shard) -> None:
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append(index)
        write(self, layer, index, shard)

    monkeypatch.setattr(Store, "_write", stop_after_two)
    with pytest.raises(KeyboardInterrupt):
        Store(tmp_path, example_corpus).build([layer])
    again: list[int] = []
    monkeypatch.setattr(Store, "_write", lambda self, *a: (again.append(a[1]), write(self, *a))[1])
    stored = Store(tmp_path, example_corpus).build([layer])[0]
    assert made == [0, 1]
    assert again == list(range(2, len(stored.shards)))
    assert sum(len(shard) for shard in stored.shards) == len(example_corpus)


def test_a_model_that_reads_tokens_reads_no_document_again(
    example_corpus: Corpus, tiny: Backbone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, cls = (scorer_of(load(name, tiny)).layers[0] for name in ("first", "cls"))
    Store(tmp_path, example_corpus).build([first])
    monkeypatch.setattr(Corpus, "shards", lambda self: pytest.fail("the documents were read again"))
    (stored,) = Store(tmp_path, example_corpus).build([cls])
    assert sum(len(shard) for shard in stored.shards) == len(example_corpus)
    assert not stored.unhandled


def test_stored_tokens_are_those_of_the_documents(example_corpus: Corpus, tiny: Backbone, tmp_path: Path) -> None:
    (stored,) = Store(tmp_path, example_corpus).build([DocumentTokens(tiny.tokenizer)])
    documents = example_corpus.documents(example_corpus.ids)
    for id, arrays in zip(example_corpus.ids, stored.each(*stored.layer.shapes), strict=True):
        mine, theirs = restore_tokens(arrays, documents[id]), tokenize(documents[id], tiny.tokenizer)
        for field in fields(Tokens):
            if field.name != "document":
                np.testing.assert_array_equal(getattr(mine, field.name), getattr(theirs, field.name))
