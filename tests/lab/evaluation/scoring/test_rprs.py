"""RPRS's rows over stored vectors, slice by slice, are the model's own."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from longmatch.encoders.backbone import Backbone
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.scoring import slices
from longmatch.lab.evaluation.scoring.choose import scorer_of
from longmatch.lab.evaluation.scoring.rprs import RprsScorer
from longmatch.lab.store import store
from longmatch.lab.store.store import LayerStore
from longmatch.models.loading import load

QUERIES = [0, 7, 19]


@pytest.fixture(scope="module")
def tiny(tiny_bert: Path) -> Backbone:
    return Backbone.load(str(tiny_bert), precision="float32")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One store for all rows, as an evaluation has it."""
    return tmp_path_factory.mktemp("store")


@pytest.mark.parametrize("name", ["rprs", "rprs-frequency"])
@pytest.mark.parametrize("room", [700, 10**6])
def test_stored_scores_are_the_models_own(name, room, example_corpus: Corpus, tiny, shared, monkeypatch) -> None:
    monkeypatch.setattr(store, "CHARACTERS", 40_000)
    monkeypatch.setattr(slices, "CPU_SENTENCES", room)
    matcher = load(name, tiny)
    scorer = scorer_of(matcher)
    assert isinstance(scorer, RprsScorer)
    stored = LayerStore.of(shared, example_corpus.source).build(scorer.layers)
    scorer.open(stored, example_corpus)
    assert (len(scorer._slices) > 3) == (room == 700)
    documents = example_corpus.documents(example_corpus.ids)
    exact = matcher.encode([documents[id] for id in example_corpus.ids])
    encodings = [replace(e, vectors=e.vectors.half().float()) for e in exact]  # as they are stored
    collection = matcher.collect(encodings)
    found = np.concatenate([scores for _, scores in scorer.scores(QUERIES)])
    wanted = np.concatenate([matcher.score(encodings[number], collection) for number in QUERIES])
    assert found.std() > 0.01
    assert (np.abs(found - wanted) > 1e-5).mean() <= 0.02  # a cosine at the very bar may be rounded to either side


def test_rprs_shares_the_sentence_vectors_of_sdr(tiny) -> None:
    assert len({scorer_of(load(name, tiny)).layers[0].key for name in ("sdr", "rprs", "rprs-frequency")}) == 1
