"""SDR over slices of a collection, and on the level of paragraphs only."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from longmatch.documents.document import Document
from longmatch.encoders.backbone import Backbone
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.scoring import slices
from longmatch.lab.evaluation.scoring.pairs import scorer_of
from longmatch.lab.evaluation.scoring.sentences import RprsScorer, SlicePart, combine
from longmatch.lab.store import store
from longmatch.lab.store.store import LayerStore
from longmatch.matching.sentences import Sentences
from longmatch.models.loading import load
from longmatch.models.sdr.score import Paragraphs, sdr_scores, split, whole_paragraphs

QUERIES = [0, 7, 19]


def random_paragraphs(seed: int, documents: int) -> Paragraphs:
    """Documents of one to four paragraphs of one to five sentences."""
    rng = np.random.default_rng(seed)
    counts = torch.from_numpy(rng.integers(1, 5, documents))
    lengths = torch.from_numpy(rng.integers(1, 6, int(counts.sum())))
    vectors = torch.from_numpy(rng.normal(size=(int(lengths.sum()), 8))).float()
    zero = torch.zeros(1, dtype=torch.long)
    offsets = [torch.cat([zero, sizes.cumsum(0)]) for sizes in (lengths, counts)]
    return Paragraphs(torch.nn.functional.normalize(vectors, dim=1), offsets[0], offsets[1])


@pytest.mark.parametrize("normalise", [True, False])
@pytest.mark.parametrize("cuts", [[12], [5, 7], [1, 10, 1]])
def test_slices_score_as_the_whole_collection_does(normalise: bool, cuts: list[int]) -> None:
    source, candidates = random_paragraphs(0, 1), random_paragraphs(1, 12)
    documents = list(split(candidates))
    slices = [Paragraphs.join(documents[end - size : end]) for size, end in zip(cuts, np.cumsum(cuts), strict=True)]
    found = combine([SlicePart.of(source, part) for part in slices], normalise)
    torch.testing.assert_close(found, sdr_scores(source, candidates, normalise), atol=1e-5, rtol=1e-5)


def test_a_paragraphs_vector_is_the_mean_of_its_sentences_weighted_by_tokens() -> None:
    document = Document("a", "a", "One two. Three. Four five six.", ())
    starts, ends = np.array([0, 9, 16]), np.array([8, 15, 30])
    sentences = Sentences(document, starts, ends, np.array([3, 1, 4]), np.array([0, 0, 1]), np.array([0, 0, 0]))
    merged, vectors = whole_paragraphs(sentences, np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]))
    assert np.allclose(vectors, [[3 / 10**0.5, 1 / 10**0.5], [0.6, 0.8]])
    assert (merged.starts.tolist(), merged.ends.tolist(), merged.lengths.tolist()) == ([0, 16], [15, 30], [4, 4])
    assert merged.paragraphs.tolist() == [0, 1, 2]


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
    assert (len(scorer.slices.slices) > 3) == (room == 700)
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
