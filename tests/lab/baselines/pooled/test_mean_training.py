"""The mean of chunks learns, and its folder reads documents as training did."""

import numpy as np
import pytest
import torch

import longmatch
from longmatch.documents.jsonl import iterate_jsonl
from longmatch.lab.baselines.pooled.training import ChunkMeanMatcher, ChunkMeanRecipe, ChunkMeanSettings
from longmatch.lab.training.settings import TrainingSettings
from longmatch.lab.training.train import train
from tests.lab.training.synthetic.classes import common_words
from tests.lab.training.synthetic.wordings import write_two_wordings


@pytest.fixture(scope="module")
def made(tiny_bert, tmp_path_factory):
    return write_two_wordings(tmp_path_factory.mktemp("made") / "wordings", common_words(tiny_bert / "vocab.txt"))


@pytest.fixture(scope="module")
def recipe(made, tiny_bert, tmp_path_factory):
    settings = ChunkMeanSettings(backbone=str(tiny_bert), chunk_tokens=32)
    found = ChunkMeanRecipe.make([made], tmp_path_factory.mktemp("cache"), TrainingSettings(documents=32), settings)
    found.model.eval()
    return found


def test_a_document_is_the_mean_of_its_chunks_weighted_by_tokens(recipe):
    tokens = recipe.data.tokens[0]
    ends = recipe.layout.bounds(tokens)[1:].tolist()
    assert len(ends) > 1
    first, last = recipe.layout.specials
    total = torch.zeros(recipe.model.config.hidden_size)
    with torch.no_grad():
        for start, end in zip([0, *ends], ends, strict=False):
            ids = torch.tensor([[first, *tokens.ids[start:end].tolist(), last]])
            total += (end - start) * recipe.model(input_ids=ids).last_hidden_state[0].mean(0)
        found = recipe.document_vectors(np.array([0]))[0]
    assert torch.allclose(found, total / len(tokens), atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["contrastive", "cross_entropy"])
def test_training_lifts_validation_and_the_folder_matches_with_what_was_trained(made, tiny_bert, tmp_path, loss):
    settings = {"loss": loss, "documents": 24, "learning_rate": 2e-3, "steps": 40, "validate_every": 20}
    out = train("mean", made, tmp_path / "out", backbone=str(tiny_bert), chunk_tokens=32, **settings)
    matcher = longmatch.load(str(out))
    assert isinstance(matcher, ChunkMeanMatcher) and matcher.layout.limit == 30
    documents = list(iterate_jsonl(made / "documents.jsonl"))[:2]
    a, b = matcher.encode(documents)
    assert torch.allclose(a.parts.sum(0), a.vector, atol=1e-4)
    match = matcher.explain(a, b)
    assert match.threshold == pytest.approx(matcher.threshold) and match.alignments
    assert longmatch.load(f"sdr@{out}").encode(documents)
