"""SMITH's pre-training, with tiny models on made documents."""

import json
import math

import numpy as np
import pytest
import torch

import longmatch
from longmatch.errors import LongmatchError, LongmatchWarning
from longmatch.lab.papers.smith.matcher import SmithMatcher
from longmatch.lab.papers.smith.pretraining import (
    PretrainSettings,
    SmithPretrainRecipe,
    identified_blocks,
    masked_block_loss,
)
from longmatch.lab.training.masked_words import IGNORED, masked_word_loss
from longmatch.lab.training.settings import TrainingSettings
from longmatch.lab.training.train import train
from tests.lab.training.synthetic.classes import common_words
from tests.lab.training.synthetic.themes import write_themes

TINY = {"size": "tiny", "width": 32, "block_tokens": 16, "dropout": 0.0}


@pytest.fixture(scope="module")
def themes(tiny_bert, tmp_path_factory):
    return write_themes(tmp_path_factory.mktemp("made") / "themes", common_words(tiny_bert / "vocab.txt"), 640)


@pytest.fixture(scope="module")
def make(tiny_bert, themes, tmp_path_factory):
    """A recipe, with settings of both kinds."""
    cache = tmp_path_factory.mktemp("cache")

    def recipe(shared=None, **own):
        torch.manual_seed(0)
        settings = TrainingSettings(**{"documents": 16, "tokens_at_once": 10**6, **(shared or {})})
        return SmithPretrainRecipe.make(
            [themes], cache, settings, PretrainSettings(**{**TINY, "tokenizer": str(tiny_bert), **own})
        )

    return recipe


@pytest.fixture
def trained(tiny_bert, themes, tmp_path):
    """Trains a model as a user would, on bare documents, for some steps."""

    def run(steps):
        settings = {"documents": 24, "learning_rate": 5e-3, "tokens_at_once": 10**6, "validate_every": steps // 2}
        settings |= {"steps": steps, "tokenizer": str(tiny_bert)}
        return train("smith-pretrain", themes / "documents.jsonl", tmp_path / "smith", **settings, **TINY)

    return run


def gradient(recipe, step=0):
    recipe.model.train().zero_grad()
    losses = recipe.backward(recipe.model, recipe.draw(step))
    found = [p.grad.flatten() for p in recipe.model.parameters() if p.grad is not None]
    return {name: float(loss) for name, loss in losses.items()}, torch.cat(found)


@pytest.mark.slow
def test_hidden_blocks_are_picked_far_above_chance_after_training_and_at_chance_before(trained, make):
    recipe = make({"documents": 24})
    untrained = recipe.validate(recipe.model.eval())
    scores = json.loads((trained(320) / "longmatch.json").read_text())["scores"]
    assert scores["block_chance"] == untrained["block_chance"] == pytest.approx(0.04, abs=0.01)
    assert untrained["block_accuracy"] < 3 * untrained["block_chance"]
    assert scores["block_accuracy"] > 4 * scores["block_chance"]
    assert scores["masked_block_loss"] < untrained["masked_block_loss"] - 1.0
    assert scores["masked_word_loss"] < untrained["masked_word_loss"] - 0.7
    assert scores["word_accuracy"] > untrained["word_accuracy"]


def test_what_it_leaves_is_an_encoder_that_opens(trained, examples):
    matcher = longmatch.load(str(trained(2)))
    assert isinstance(matcher, SmithMatcher) and matcher.threshold is None
    with pytest.warns(LongmatchWarning, match="64 blocks"):
        match = matcher.compare(examples["coming-back-slowly.md"], examples["the-stream-that-turned.md"])
    assert 0 <= match.score <= 1 and match.probability is None


def test_the_losses_are_those_of_all_hidden_words_and_blocks_of_the_batch(make):
    recipe = make()
    batch = recipe.draw(3)
    recipe.model.eval()
    with torch.no_grad():
        found = recipe.model.predict(batch)
        logits = recipe.model.word_logits(found.words)
    words = batch.labels[batch.labels != IGNORED]
    assert len(found.predicted) == len(found.original) == 32 and len(found.words) == len(words)
    losses = recipe.backward(recipe.model, batch)
    assert losses["masked_block_loss"] == pytest.approx(float(masked_block_loss(found.predicted, found.original)))
    assert losses["masked_word_loss"] == pytest.approx(float(masked_word_loss(logits, words)))
    assert losses["loss"] == pytest.approx(float(losses["masked_block_loss"] + losses["masked_word_loss"]))


@torch.no_grad()
def test_hidden_words_stand_in_the_order_of_the_text(make):
    recipe = make()
    batch = recipe.draw(0)
    recipe.model.eval()
    found, row = recipe.model.predict(batch).words, 0
    lengths = batch.blocks.text.lengths.tolist()
    for ids, words in zip(batch.blocks.text.ids.split(lengths), batch.labels.split(lengths), strict=True):
        states = recipe.model.smith.encode_tokens(ids[None], torch.ones_like(ids)[None])[0]
        for place in (words != IGNORED).nonzero().flatten().tolist():
            assert torch.allclose(found[row], states[place], atol=1e-5)
            row += 1
    assert row == len(found)


def test_a_batch_s_gradient_is_the_same_whether_or_not_it_fits_the_device(make):
    whole_losses, whole = gradient(make())
    losses, pieces = gradient(make({"tokens_at_once": 300}))
    assert losses == pytest.approx(whole_losses, abs=1e-5)
    assert torch.allclose(pieces, whole, atol=1e-5)
    assert len(list(make({"tokens_at_once": 300}).draw(0).groups(300))) > 3


def test_what_is_hidden_is_drawn_anew_each_step_and_alike_for_the_same_step(make):
    recipe = make({"documents": 640})
    first, again, other = recipe.draw(0), make({"documents": 640}).draw(0), recipe.draw(1)
    assert torch.equal(first.labels, again.labels) and torch.equal(first.is_masked, again.is_masked)
    assert len(first.labels) == len(other.labels)  # the same documents
    assert int((first.labels != IGNORED).sum()) != int((other.labels != IGNORED).sum())


def test_an_epoch_reads_every_training_document_once_and_none_that_is_validation_batches(make):
    recipe = make()
    seen = np.concatenate([recipe.documents[recipe.epochs.rows(step)] for step in range(recipe.steps_per_epoch)])
    assert sorted(seen.tolist()) == recipe.data.documents("train").tolist()
    assert not set(seen.tolist()) & set(recipe.data.documents("validation").tolist())


def test_words_alone_can_be_hidden_and_blocks_alone(make):
    words, blocks = make(masked_blocks=0), make(masked_words=0.0)
    assert not words.draw(0).is_masked.any() and not len(blocks.draw(0).word_labels)
    assert set(words.validate(words.model.eval())) == {"loss", "masked_word_loss", "word_accuracy"}
    found = blocks.validate(blocks.model.eval())
    assert set(found) == {"loss", "masked_block_loss", "block_accuracy", "block_chance"}
    assert found["loss"] == found["masked_block_loss"]
    for recipe, missing in ((words, "document_level"), (blocks, "words")):
        losses, _ = gradient(recipe)
        assert np.isfinite(losses["loss"])
        untouched = [
            p.grad is None or not p.grad.any() for n, p in recipe.model.named_parameters() if missing in n.split(".")
        ]
        assert untouched and all(untouched)


def test_validation_is_the_same_each_time_and_for_each_seed(make):
    recipe, other = make(), make({"seed": 5})
    other.model.load_state_dict(recipe.model.state_dict())
    assert recipe.validate(recipe.model.eval()) == recipe.validate(recipe.model) == other.validate(other.model.eval())


def test_validation_in_pieces_is_the_same(make):
    whole, pieces = make(), make({"tokens_at_once": 300})
    assert pieces.validate(pieces.model.eval()) == pytest.approx(whole.validate(whole.model.eval()), abs=1e-4)


def test_a_limit_on_documents_is_one_on_blocks(make):
    recipe = make({"max_tokens": 64})
    assert recipe.model.smith.config.max_blocks == 4
    assert set(recipe.draw(0).blocks.counts.tolist()) == {4}


def test_training_may_read_documents_from_anywhere_and_validation_never_does(make):
    opening, anywhere = (make({"max_tokens": 64}, masked_words=0.0, anywhere=where) for where in (False, True))
    assert opening.draw(0).blocks.counts.tolist() == anywhere.draw(0).blocks.counts.tolist()
    assert not torch.equal(opening.draw(0).blocks.text.ids, anywhere.draw(0).blocks.text.ids)
    assert torch.equal(anywhere.draw(0).blocks.text.ids, anywhere.draw(0).blocks.text.ids)
    for mine, theirs in zip(opening.validation_batches, anywhere.validation_batches, strict=True):
        assert torch.equal(mine.blocks.text.ids, theirs.blocks.text.ids)


def test_documents_of_one_block_alone_are_an_error_that_names_the_way_out(make):
    recipe = make({"max_tokens": 16})
    with pytest.raises(LongmatchError, match="masked_blocks=0"):
        recipe.validate(recipe.model)


def test_a_backbone_can_be_trained_on(make, tiny_bert):
    recipe = make(tokenizer=None, size=None, width=None, heads=2, backbone=str(tiny_bert))
    losses, found = gradient(recipe)
    assert np.isfinite(losses["loss"]) and torch.isfinite(found).all()


@pytest.mark.parametrize(
    "wrong",
    [
        {"masked_words": 1.0},
        {"masked_blocks": -1},
        {"validation_documents": 0},
        {"masked_words": 0.0, "masked_blocks": 0},
        {"layers": 0},
        {"block_tokens": 3},
        {"dropout": 1.0},
        {"width": 64, "backbone": "somewhere"},
    ],
)
def test_a_setting_no_model_can_have_is_an_error_that_names_it(wrong):
    with pytest.raises(LongmatchError, match=next(iter(wrong))):
        PretrainSettings(**wrong)


def test_heads_that_do_not_divide_the_width_are_an_error(make):
    with pytest.raises(LongmatchError, match="heads is 5"):
        make(heads=5)


def test_masked_blocks_by_hand():
    """Three hidden blocks along the axes. Of the first the model says (2, 0, 0), of the others nothing."""
    predicted = torch.tensor([[2.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    expected = (math.log(1 + 2 * math.exp(-2)) + 2 * math.log(3)) / 3
    assert masked_block_loss(predicted, torch.eye(3)).item() == pytest.approx(expected, abs=1e-6)


def test_masked_blocks_are_picked_by_the_model_s_word_and_not_the_block_s():
    """Both blocks are foretold by the first one's vector: ln(1 + 1/e) and ln(1 + e)."""
    predicted = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    expected = (math.log(1 + math.exp(-1)) + math.log(1 + math.e)) / 2
    assert masked_block_loss(predicted, torch.eye(2)).item() == pytest.approx(expected, abs=1e-6)


def test_without_a_masked_block_the_loss_is_zero_with_zero_gradient():
    nothing = torch.zeros(0, 4, requires_grad=True)
    loss = masked_block_loss(nothing, torch.zeros(0, 4))
    loss.backward()
    assert loss.item() == 0


def test_blocks_are_identified_in_float32_under_autocast_too():
    """Scores of 1.00 and 1.001 are equal in bfloat16."""
    vectors = torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([[1.0, 1.001], [1.001, 1.0]])
    with torch.autocast("cpu", torch.bfloat16):
        assert identified_blocks(vectors[0], vectors[1]) == 0 and identified_blocks(vectors[0], vectors[1].flip(0)) == 2
        inside = masked_block_loss(*vectors)
    assert inside.item() == masked_block_loss(*vectors).item()
    assert identified_blocks(torch.zeros(0, 4), torch.zeros(0, 4)) == 0
