"""SMITH with means in place of first tokens and blocks, parts of equal length, weights of the losses and a head."""

import pytest
import torch
from torch.nn.functional import normalize

from longmatch.lab.papers.smith.encoder import CombinedLevels
from longmatch.lab.papers.smith.pretraining import PretrainSettings, SmithForPretraining, SmithPretrainRecipe
from longmatch.lab.papers.smith.training import SmithRecipe, SmithSettings
from longmatch.lab.training.settings import TrainingSettings
from longmatch.lab.training.train import train
from tests.lab.papers.smith.test_training import TINY
from tests.lab.papers.smith.tiny_smith import tiny_smith
from tests.lab.training.synthetic.classes import common_words
from tests.lab.training.synthetic.themes import write_themes

COUNTS, POSITION = torch.tensor([3, 1]), torch.tensor([0, 1, 2, 0])


@pytest.fixture
def blocks():
    return normalize(torch.randn(4, 16, generator=torch.Generator().manual_seed(1)), dim=1)


@pytest.fixture(scope="module")
def themes(tiny_bert, tmp_path_factory):
    return write_themes(tmp_path_factory.mktemp("made") / "themes", common_words(tiny_bert / "vocab.txt"), 160)


@torch.no_grad()
def test_a_block_may_be_the_mean_of_its_tokens_without_padding():
    model, hidden = tiny_smith(block_pooling="mean"), torch.randn(2, 5, 16)
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]])
    expected = normalize(model.block(torch.stack([hidden[0].mean(0), hidden[1, :2].mean(0)])), dim=1)
    assert torch.allclose(model.block_vectors(hidden, mask), expected, atol=1e-6)


@torch.no_grad()
def test_a_document_may_be_the_mean_of_its_blocks_so_that_all_count(blocks):
    model = tiny_smith(document_pooling="mean")
    found = model.aggregate(blocks, POSITION, COUNTS)
    expected = normalize(model.combined.dense(found.context[:3].mean(0)), dim=0)
    assert torch.allclose(found.documents[0], expected, atol=1e-6)


@torch.no_grad()
def test_parts_of_a_combination_may_have_the_same_length(blocks):
    torch.manual_seed(0)
    combined, long = CombinedLevels("mean-concat", 16, normalised=True), torch.randn(2, 16) * 16
    offsets = torch.tensor([0, 3, 4])
    assert torch.allclose(combined(blocks, long, offsets), combined(blocks, long / 100, offsets), atol=1e-6)
    plain = CombinedLevels("mean-concat", 16)
    assert not torch.allclose(plain(blocks, long, offsets), plain(blocks, long / 100, offsets), atol=1e-3)


@torch.no_grad()
def test_a_head_stands_between_the_document_level_and_the_choice_of_a_block(blocks):
    torch.manual_seed(0)
    model, masked = SmithForPretraining(tiny_smith(), block_head=True).eval(), torch.tensor([1])
    headed = model.predict_blocks(blocks, masked, POSITION, COUNTS)
    head, model.block_head = model.block_head, torch.nn.Sequential()
    assert torch.allclose(headed, head(model.predict_blocks(blocks, masked, POSITION, COUNTS)))


def test_the_losses_of_pre_training_are_weighed(tiny_bert, themes, tmp_path):
    options = {**TINY, "tokenizer": str(tiny_bert), "block_head": True, "word_weight": 2.0, "block_weight": 0.5}
    recipe = SmithPretrainRecipe.make([themes], tmp_path, TrainingSettings(documents=8), PretrainSettings(**options))
    losses = recipe.backward(recipe.model, recipe.draw(0))
    expected = 2 * losses["masked_word_loss"] + 0.5 * losses["masked_block_loss"]
    assert torch.isclose(losses["loss"], expected)
    with torch.no_grad():
        measures = recipe.validate(recipe.model)
    expected = 2 * measures["masked_word_loss"] + 0.5 * measures["masked_block_loss"]
    assert measures["loss"] == pytest.approx(expected)


def test_a_centred_start_gives_the_first_batch_even_odds(tiny_bert, themes, tmp_path):
    def start(centred):
        torch.manual_seed(0)
        options = SmithSettings(**TINY, tokenizer=str(tiny_bert), centred=centred)
        recipe = SmithRecipe.make([themes], tmp_path, TrainingSettings(documents=24), options)
        recipe.model.eval()
        with torch.no_grad():
            batch = recipe.draw(0)
            vectors = recipe.model.encode_batch(batch.documents).documents
            logits = recipe.model.logits((vectors[batch.targets[0]] * vectors[batch.targets[1]]).sum(1))
        return logits.mean().item(), {n for n, _ in recipe.model.named_parameters() if recipe.is_new(n)}

    assert abs(start(True)[0]) < 1e-3
    assert abs(start(False)[0]) > 0.1
    assert start(True)[1] == {"scale", "bias"}


def test_what_is_put_on_a_backbone_learns_faster_than_it(tiny_bert, themes, tmp_path):
    made = (
        (SmithRecipe, SmithSettings, "sentence_level."),
        (SmithPretrainRecipe, PretrainSettings, "smith.sentence_level."),
    )
    for recipe_class, options, backbone in made:
        asked = options(backbone=str(tiny_bert), heads=2)
        recipe = recipe_class.make([themes], tmp_path, TrainingSettings(documents=24), asked)
        names = {name for name, _ in recipe.model.named_parameters()}
        assert {name for name in names if recipe.is_new(name)} == {n for n in names if not n.startswith(backbone)}
    options = PretrainSettings(**TINY, tokenizer=str(tiny_bert))
    recipe = SmithPretrainRecipe.make([themes], tmp_path, TrainingSettings(documents=24), options)
    assert not any(recipe.is_new(name) for name, _ in recipe.model.named_parameters())


def test_a_trained_folder_keeps_its_pooling(tiny_bert, themes, tmp_path):
    pooled = {"block_pooling": "mean", "document_pooling": "mean", "combine": "mean-concat", "normalise_parts": True}
    settings = {"steps": 1, "documents": 16, "tokens_at_once": 10**6}
    first = train("smith-pretrain", themes, tmp_path / "pre", tokenizer=str(tiny_bert), **settings, **TINY)
    out = train("smith", themes, tmp_path / "out", pretrained=str(first), centred=True, **settings, **pooled)
    from longmatch.lab.matchers import open_trained
    from longmatch.lab.papers.smith.encoder import SmithModel

    config = open_trained(SmithModel, out)[0].config
    assert {key: getattr(config, key) for key in pooled} == pooled
