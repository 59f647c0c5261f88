"""SMITH's fine-tuning, with tiny models on made documents."""

import json

import numpy as np
import pytest
import torch

import longmatch
from longmatch.documents.jsonl import iterate_jsonl
from longmatch.errors import LongmatchError
from longmatch.lab.papers.smith.encoder import SmithModel
from longmatch.lab.papers.smith.training import SmithModelSettings, SmithRecipe, SmithSettings
from longmatch.lab.training.settings import TrainingSettings
from longmatch.lab.training.train import train
from tests.lab.training.synthetic.classes import common_words
from tests.lab.training.synthetic.themes import write_themes
from tests.lab.training.synthetic.wordings import THEMES, name_of, write_two_wordings

TINY = {"size": "tiny", "width": 32, "block_tokens": 16, "dropout": 0.0}


@pytest.fixture(scope="module")
def themes(tiny_bert, tmp_path_factory):
    return write_themes(tmp_path_factory.mktemp("made") / "themes", common_words(tiny_bert / "vocab.txt"), 640)


@pytest.fixture(scope="module")
def make(tiny_bert, themes, tmp_path_factory):
    """A recipe, with settings of both kinds."""
    cache = tmp_path_factory.mktemp("cache")

    def recipe(shared=None, data=themes, **own):
        torch.manual_seed(0)
        settings = TrainingSettings(**{"documents": 24, "tokens_at_once": 10**6, **(shared or {})})
        tiny = {} if "pretrained" in own or "backbone" in own else {**TINY, "tokenizer": str(tiny_bert)}
        return SmithRecipe.make([data], cache, settings, SmithSettings(**{**tiny, **own}))

    return recipe


@pytest.fixture(scope="module")
def wordings(tiny_bert, tmp_path_factory):
    return write_two_wordings(tmp_path_factory.mktemp("made") / "wordings", common_words(tiny_bert / "vocab.txt"))


@pytest.fixture(scope="module")
def trained(tiny_bert, wordings, tmp_path_factory):
    """A model trained as a user would, from nothing (SMITH-NP)."""
    out = tmp_path_factory.mktemp("trained") / "smith"
    settings = {"documents": 64, "learning_rate": 3e-3, "steps": 80, "tokens_at_once": 10**6, "validate_every": 40}
    return train("smith", wordings, out, tokenizer=str(tiny_bert), **settings, **{**TINY, "block_tokens": 32})


@pytest.fixture(scope="module")
def pretrained(tiny_bert, themes, tmp_path_factory):
    """One step of pre-training, which is enough to begin from."""
    out = tmp_path_factory.mktemp("pretrained") / "smith-wp"
    return train("smith-pretrain", themes, out, steps=1, tokens_at_once=10**6, tokenizer=str(tiny_bert), **TINY)


def gradients(recipe, step=0):
    recipe.model.train().zero_grad()
    loss = recipe.backward(recipe.model, recipe.draw(step))["loss"]
    return float(loss), {name: p.grad for name, p in recipe.model.named_parameters() if p.grad is not None}


@pytest.mark.slow
def test_average_precision_rises_far_above_the_untrained_model_s(trained, make, wordings):
    recipe = make(data=wordings)
    record = json.loads((trained / "longmatch.json").read_text())
    assert recipe.validate(recipe.model.eval())["average_precision"] < 0.75
    assert record["scores"]["average_precision"] > 0.9
    assert record["model"] == "smith"


def test_the_trained_folder_tells_the_threshold_and_the_chance(trained, wordings):
    matcher = longmatch.load(str(trained))
    documents = {d.id: d for d in iterate_jsonl(wordings / "documents.jsonl")}

    def chance(theme, other):
        return matcher.compare(documents[name_of(theme, 0)], documents[name_of(THEMES + other, 1)]).probability

    alike, apart = (np.mean([chance(t, (t + away) % THEMES) for t in range(THEMES)]) for away in (0, 1))
    assert matcher.threshold is not None and alike > 0.5 > apart
    query, other = matcher.encode([documents[name_of(0, 0)], documents[name_of(THEMES, 1)]])
    cosine = float(matcher.score(query, matcher.collect([other]))[0])
    expected = 1 / (1 + np.exp(-(matcher.model.scale.item() * cosine + matcher.model.bias.item())))
    assert chance(0, 0) == pytest.approx(expected, abs=1e-5)


def test_the_loss_is_the_cross_entropy_of_the_chance(make):
    recipe = make()
    recipe.model.eval()
    batch = recipe.draw(0)
    vectors = recipe.model.encode_batch(batch.documents).documents
    source, target, label = batch.targets
    chances = torch.sigmoid(10.0 * (vectors[source] * vectors[target]).sum(1) - 5.0)
    expected = -(label * chances.log() + (1 - label) * (1 - chances).log()).mean()
    assert recipe.backward(recipe.model, batch)["loss"].item() == pytest.approx(expected.item(), abs=1e-4)


def test_a_batch_s_gradient_is_the_same_whether_or_not_it_fits_the_device(make):
    whole_loss, whole = gradients(make())
    loss, pieces = gradients(make({"tokens_at_once": 300}))
    assert loss == pytest.approx(whole_loss, abs=1e-5)
    assert set(pieces) == set(whole) > {"scale", "bias"}
    assert all(torch.allclose(pieces[name], whole[name], atol=1e-5) for name in whole)
    assert whole["scale"].abs() > 1e-4 and whole["bias"].abs() > 1e-4  # both are learned


def test_an_epoch_draws_every_pair_once_with_its_label(make):
    recipe = make()
    seen = np.concatenate([recipe.batch_rows(step) for step in range(recipe.steps_per_epoch)])
    assert sorted(seen.tolist()) == list(range(len(recipe.pairs)))
    source, target, label = recipe.draw(2).targets
    assert label.tolist() == recipe.pairs.label[recipe.batch_rows(2)].tolist()
    assert len(source) == len(target) == 12


def test_a_step_is_drawn_alike_each_time_and_otherwise_with_another_seed(make):
    first, again, other = make().draw(3), make().draw(3), make({"seed": 9}).draw(3)
    assert torch.equal(first.documents.text.ids, again.documents.text.ids) and torch.equal(first.targets, again.targets)
    assert not torch.equal(first.targets, other.targets) or not torch.equal(
        first.documents.text.ids, other.documents.text.ids
    )


def test_a_pre_trained_folder_is_where_training_begins(pretrained, make):
    recipe = make(pretrained=str(pretrained), combine="mean-concat", max_blocks=5)
    before = SmithModel.from_pretrained(pretrained).state_dict()
    now = recipe.model.state_dict()
    same = [name for name in before if name in now and before[name].shape == now[name].shape]
    assert all(torch.equal(before[name], now[name]) for name in same)
    assert {name for name in before if name not in same} == {
        "document_level.embeddings.position_embeddings.weight",
        "combined.dense.weight",
    }
    assert set(recipe.draw(0).documents.counts.tolist()) == {5}
    assert recipe.facts["pretrained"] == str(pretrained)


@pytest.mark.parametrize("key", ["layers", "width", "block_tokens", "backbone", "size"])
def test_what_a_pre_trained_model_is_made_of_cannot_be_changed(key):
    value = {"backbone": "somewhere", "size": "tiny"}.get(key, 8)
    with pytest.raises(LongmatchError, match=f"setting {key} is fixed by the pre-trained model"):
        SmithSettings(pretrained="somewhere", **{key: value})


def test_a_folder_of_another_kind_is_an_error_of_one_sentence(make, tiny_bert, tmp_path):
    with pytest.raises(LongmatchError, match="a model of type bert"):
        make(pretrained=str(tiny_bert))
    with pytest.raises(LongmatchError, match="cannot be opened"):
        make(pretrained=str(tmp_path / "none"))


def test_smith_short_reads_four_blocks_of_128_by_a_checkpoint(make, tiny_bert):
    recipe = make(backbone=str(tiny_bert), heads=2)
    config = recipe.model.config
    assert (config.block_tokens, config.max_blocks, config.document_layers) == (128, 4, 3)
    assert recipe.layout.limit == 62  # the tiny checkpoint reads no more than 64
    loss, found = gradients(recipe)
    assert np.isfinite(loss) and any(name.startswith("sentence_level") for name in found)
    assert recipe.facts["backbone"] == str(tiny_bert)


@pytest.mark.parametrize("combine", ["normal", "sum-concat", "mean-concat", "attention"])
def test_every_way_to_combine_has_a_gradient_and_measures(make, combine):
    recipe = make({"tokens_at_once": 500}, combine=combine)
    loss, found = gradients(recipe)
    assert np.isfinite(loss) and all(torch.isfinite(g).all() for g in found.values())
    assert all(name in found for name, _ in recipe.model.combined.named_parameters(prefix="combined"))
    measures = recipe.validate(recipe.model.eval())
    assert next(iter(measures)) == "average_precision" and set(measures) > {"f1", "accuracy", "threshold"}


def test_the_default_is_the_paper_s_model_over_the_packaged_vocabulary():
    model, tokenizer = SmithModelSettings().new_model(None)
    inner = model.sentence_level.config
    assert (inner.num_hidden_layers, inner.hidden_size, inner.num_attention_heads) == (6, 256, 4)
    assert (model.config.document_layers, model.config.max_blocks, model.layout((1, 2)).limit) == (3, 64, 30)
    assert inner.vocab_size == len(tokenizer) == 30_522


def test_validation_scores_are_the_cosines_a_user_gets(trained, themes, make):
    recipe = make({"tokens_at_once": 300}, block_tokens=32)
    matcher = longmatch.load(str(trained))
    matcher.precision, recipe.model = "float32", matcher.model
    numbers = np.array([3, 11, 50])
    documents = {d.id: d for d in iterate_jsonl(themes / "documents.jsonl")}
    encodings = matcher.encode([documents[recipe.data.tokens.ids[n]] for n in numbers])
    assert torch.allclose(recipe.document_vectors(numbers), matcher.collect(encodings), atol=1e-5)


@pytest.mark.parametrize("wrong", [{"scale": 0.0}, {"validation_pairs": 1}, {"max_blocks": 0}])
def test_a_setting_no_model_can_have_is_an_error_that_names_it(wrong):
    with pytest.raises(LongmatchError, match=next(iter(wrong))):
        SmithSettings(**wrong)
