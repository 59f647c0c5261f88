"""Adaptive clustering learns from labelled pairs what the subtopics of two documents are."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import longmatch
from longmatch.errors import LongmatchError
from longmatch.lab.papers.sst.cluster_training import ClusterRecipe, ClusterSettings
from longmatch.lab.papers.sst.network import AdaptiveClustering, ClusterModel
from longmatch.lab.training.settings import TrainingSettings
from longmatch.lab.training.train import train
from tests.lab.training.synthetic.subtopics import SENTENCES, write_two_subtopics

SHAPE = {"cluster_size": 8, "hidden": 64}


@pytest.fixture(scope="module")
def made(tiny_bert: Path, tmp_path_factory) -> Path:
    words = [word for word in (tiny_bert / "vocab.txt").read_text().split() if word.isalpha() and len(word) > 3]
    return write_two_subtopics(tmp_path_factory.mktemp("made") / "made", words)


@pytest.fixture(scope="module")
def cache(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def recipe(made, cache, tiny_bert):
    """Makes a recipe over the made collection."""

    def make(seed: int = 0, documents: int = 32, **own) -> ClusterRecipe:
        torch.manual_seed(seed)
        settings = TrainingSettings(seed=seed, documents=documents, device="cpu")
        return ClusterRecipe.make([made], cache, settings, ClusterSettings(backbone=str(tiny_bert), **SHAPE | own))

    return make


def learn(recipe: ClusterRecipe, steps: int) -> tuple[dict[str, float], dict[str, float]]:
    """The measures before and after some steps."""
    with torch.no_grad():
        before = recipe.validate(recipe.model)
    optimizer = torch.optim.AdamW(recipe.model.parameters(), lr=1e-3)
    for step in range(steps):
        optimizer.zero_grad()
        recipe.backward(recipe.model, recipe.draw(step))
        optimizer.step()
    with torch.no_grad():
        return before, recipe.validate(recipe.model)


def chosen(recipe: ClusterRecipe, a: str, b: str) -> list[int]:
    """The likeliest cluster of each sentence of two documents."""
    sides = [recipe.vectors[recipe.data.tokens.number(id)] for id in (a, b)]
    sizes = torch.tensor([[len(side) for side in sides]])
    return recipe.model(recipe.model.graph(torch.from_numpy(np.concatenate(sides)), sizes)).argmax(1).tolist()


@pytest.mark.parametrize("seed", range(2))
def test_the_subtopics_of_documents_never_seen_are_found(recipe, seed):
    learnt = recipe(seed)
    before, after = learn(learnt, 100)
    assert before["loss"] > 0.25 and after["loss"] < 0.05
    assert after["agreement_loss"] < 0.05 and after["agreement_of_others"] > 3
    match, other = chosen(learnt, "xy-0", "xy-1"), chosen(learnt, "x-0", "y-1")
    x, y = other[0], other[-1]
    assert x != y and other == [x] * 2 * SENTENCES + [y] * 2 * SENTENCES
    first, second = match[0], match[-1]
    assert first != second and match == ([first] * SENTENCES + [second] * SENTENCES) * 2


def test_without_separation_all_may_be_one_cluster(recipe):
    _, after = learn(recipe(separation=0.0), 60)
    assert after["loss"] == pytest.approx(after["agreement_loss"]) and after["agreement_loss"] < 0.05


def test_without_agreement_other_pairs_alone_are_told_apart(recipe):
    _, after = learn(recipe(agreement=0.0), 100)
    assert after["loss"] == pytest.approx(after["separation_loss"]) and after["separation_loss"] < 0.25


def test_without_both_the_subtopics_are_what_the_graph_has_edges_within(recipe):
    learnt = recipe(agreement=0.0, separation=0.0, modularity=1.0)
    before, after = learn(learnt, 100)
    assert after["loss"] == pytest.approx(after["modularity_loss"]) and after["loss"] < before["loss"] - 0.2
    other = chosen(learnt, "x-0", "y-1")
    assert other[0] != other[-1] and other == [other[0]] * 2 * SENTENCES + [other[-1]] * 2 * SENTENCES


def test_the_loss_is_the_weighted_sum_of_its_terms(recipe):
    one = recipe(agreement=2.0, separation=10.0, modularity=3.0)
    losses = one.backward(one.model, one.draw(0))
    parts = 2 * losses["agreement_loss"] + 10 * losses["separation_loss"] + 3 * losses["modularity_loss"]
    assert losses["loss"].item() == pytest.approx(parts.item(), abs=1e-4)


def test_a_batch_holds_as_many_matches_as_others_though_others_are_twice_as_many(recipe):
    one = recipe()
    labels = [one.draw(step).label for step in range(one.steps_per_epoch)]
    assert all(abs(int(part.sum()) - len(part) / 2) <= 1 for part in labels)
    assert sum(int((1 - part).sum()) for part in labels) == int((1 - one.pairs.label).sum())  # each once


def test_a_batch_depends_on_the_seed_and_the_step_alone(recipe):
    one, same, other = recipe(), recipe(), recipe(seed=1)
    one.draw(5)
    assert torch.equal(one.draw(2).graph.vectors, same.draw(2).graph.vectors)
    assert not torch.equal(one.draw(2).graph.vectors, other.draw(2).graph.vectors)
    assert not torch.equal(one.draw(2).graph.vectors, one.draw(3).graph.vectors)


def test_validation_is_that_of_the_pairs_one_by_one_and_the_same_whatever_the_seed(recipe):
    one, other = recipe(), recipe(seed=7)
    other.model.load_state_dict(one.model.state_dict())
    with torch.no_grad():
        found = one.validate(one.model)
        assert found == pytest.approx(other.validate(other.model), abs=1e-5)
        alone = [one.pair_losses(one.lay_out(one.held_out, np.array([row])).graph) for row in range(len(one.held_out))]
    matches = one.held_out.label == 1
    agreement, separation, modularity = torch.cat(alone, dim=1).numpy()
    assert found["agreement_loss"] == pytest.approx(agreement[matches].mean(), abs=1e-4)
    assert found["separation_loss"] == pytest.approx(separation[~matches].mean(), abs=1e-4)
    assert found["modularity_loss"] == pytest.approx(modularity.mean(), abs=1e-4)


def test_a_trained_folder_opens_again_and_the_same_seed_gives_the_same_weights(made, tiny_bert, tmp_path):
    settings = {"backbone": str(tiny_bert), "steps": 4, "validate_every": 2, "device": "cpu", "documents": 16, **SHAPE}
    outs = [
        train("sst-clusters", made, tmp_path / name, seed=seed, **settings)
        for name, seed in (("a", 0), ("b", 0), ("c", 1))
    ]
    a, b, c = (load_file(out / "model.safetensors") for out in outs)
    assert all(torch.equal(a[name], b[name]) for name in a)
    assert not all(torch.equal(a[name], c[name]) for name in a)
    record = json.loads((outs[0] / "longmatch.json").read_text())
    assert record["model"] == "sst-clusters" and next(iter(record["scores"])) == "loss"
    assert ClusterModel.from_pretrained(outs[0]).config.max_sentences == 40
    card = (outs[0] / "README.md").read_text(encoding="utf-8")
    assert f"--set clusters={outs[0]}" in card and "lm.load" not in card
    with pytest.raises(LongmatchError, match="matches nothing by itself"):
        longmatch.load(outs[0])
    clustering = AdaptiveClustering.load(outs[0], device="cpu")
    again = ClusterRecipe.make(
        [made], tmp_path / "cache", TrainingSettings(device="cpu"), ClusterSettings(backbone=str(tiny_bert), **SHAPE)
    )
    tokens = [again.data.tokens[again.data.tokens.number(id)] for id in ("xy-0", "x-1")]
    found = clustering.assign(*tokens)
    assert found.shape == (4 * SENTENCES, 2)
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-5)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"agreement": 0.0, "separation": 0.0}, "nothing is left to learn"),
        ({"neighbours": 0}, "The setting neighbours is 0; it must be 1 or more"),
        ({"cluster_size": 0.0}, "The setting cluster_size is 0.0; it must be above 0"),
        ({"dropout": 1.0}, "The setting dropout is 1.0; it must be 0 or more and below 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused_in_a_sentence(settings, sentence):
    with pytest.raises(LongmatchError, match=sentence):
        ClusterSettings(**settings)
