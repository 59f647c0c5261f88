"""Match-Ignition, OPT-Match and BERT-PLI learn from what they read of pairs, and open as what was trained."""

import json

import pytest
import torch

import longmatch
from longmatch.documents.jsonl import iterate_jsonl
from longmatch.errors import LongmatchError
from longmatch.lab.training.labelled_recipe import pair_measures
from longmatch.lab.training.settings import TrainingSettings
from longmatch.lab.training.train import find_recipe, train
from longmatch.models.registry import find_model
from tests.lab.baselines.cross.tiny_cross import save_learner
from tests.lab.training.synthetic.classes import common_words
from tests.lab.training.synthetic.wordings import write_two_wordings

pytestmark = pytest.mark.filterwarnings("ignore::longmatch.errors.LongmatchWarning")
OWN = {
    "match-ignition": {"side_tokens": 18},
    "opt-match": {"side_tokens": 18},
    "bert-pli": {"side_tokens": 24, "paragraph_tokens": 12, "hidden": 32},  # two paragraphs with two
}
THEMES, STEPS = 3, 60


@pytest.fixture(scope="module")
def backbone(tiny_bert, tmp_path_factory):
    return save_learner(tiny_bert, tmp_path_factory.mktemp("learner"))


@pytest.fixture(scope="module")
def made(tiny_bert, tmp_path_factory):
    words = common_words(tiny_bert / "vocab.txt")
    return write_two_wordings(tmp_path_factory.mktemp("made") / "wordings", words, THEMES)


@pytest.fixture(scope="module")
def recipe(made, backbone, tmp_path_factory):
    """Makes a recipe over the made collection."""
    cache = tmp_path_factory.mktemp("cache")

    def make(name, budget=10**6, **own):
        torch.manual_seed(0)
        settings, kind = TrainingSettings(documents=64, tokens_at_once=budget), find_recipe(name)
        return kind.make([made], cache, settings, kind.Settings(str(backbone), dropout=0.0, **OWN[name], **own))

    return make


def average_precision(found):
    found.model.eval()
    with torch.no_grad():
        return found.validate(found.model)["average_precision"]


@pytest.mark.parametrize("name", ["opt-match", "bert-pli"])
def test_rows_read_without_padding_have_the_loss_and_gradients_of_padded_ones(recipe, name, monkeypatch):
    found = []
    for packed in ("0", "1"):
        monkeypatch.setenv("LONGMATCH_PACKED", packed)
        made = recipe(name)
        loss = made.backward(made.model.eval(), made.draw(0))["loss"].item()  # without dropout
        found.append((loss, {key: w.grad for key, w in made.model.named_parameters() if w.grad is not None}))
    (one, padded), (other, gradients) = found
    assert one == pytest.approx(other, abs=1e-5)
    for key in padded:
        torch.testing.assert_close(padded[key], gradients[key], atol=1e-4, rtol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(OWN))
def test_training_lifts_the_average_precision_of_validation_pairs(recipe, name):
    found = recipe(name)
    before = average_precision(found)
    optimizer = torch.optim.AdamW(found.model.parameters(), lr=2e-3)
    falling = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, STEPS)  # as the trainer's own
    found.model.train()
    for step in range(STEPS):
        optimizer.zero_grad()
        found.backward(found.model, found.draw(step))
        torch.nn.utils.clip_grad_norm_(found.model.parameters(), 1.0)
        optimizer.step()
        falling.step()
    assert before < 0.75 and average_precision(found) > 0.9


@pytest.mark.parametrize("name", list(OWN))
def test_the_trained_folder_opens_and_scores_as_training_measured(made, recipe, backbone, tmp_path, name):
    quick = {"steps": 12, "learning_rate": 2e-3, "documents": 32, "device": "cpu", "precision": "float32"}
    out = train(name, made, tmp_path / "out", backbone=str(backbone), **OWN[name], **quick)
    record, matcher = json.loads((out / "longmatch.json").read_text()), longmatch.load(out)
    assert record["model"] == name and type(matcher).__name__ == find_model(name).network.split(":")[1]
    matcher.precision = "float32"
    found = recipe(name)
    documents = {d.id: d for d in iterate_jsonl(made / "documents.jsonl")}
    named = [documents[id] for id in found.data.tokens.ids]
    pairs = zip(found.held_out.source.tolist(), found.held_out.target.tolist(), strict=True)
    measured = pair_measures(matcher.score_pairs([(named[a], named[b]) for a, b in pairs]), found.held_out.label)
    assert measured["average_precision"] == pytest.approx(record["scores"]["average_precision"], abs=1e-4)
    assert matcher.threshold == pytest.approx(measured["threshold"], abs=1e-4)


def test_settings_reach_the_selection(recipe):
    assert recipe("match-ignition", sentences=2).layout.selection.most == 2
    config = recipe("match-ignition", words_kept=0.7).model.config
    assert config.word_filter and config.words_kept == 0.7  # the filter of words is part of it unless switched off
    assert not recipe("match-ignition", word_filter=False).model.config.word_filter
    assert recipe("opt-match", share=0.3).layout.selection.share == 0.3


def test_bert_pli_counts_paragraphs_as_often_as_they_are_read(recipe):
    whole, pieces = recipe("bert-pli"), recipe("bert-pli", budget=400)
    batch = whole.draw(0)
    groups = list(batch.groups(pieces.tokens_per_pass))
    assert pieces.tokens_per_pass == 200 and max(rows.tokens for rows, _ in groups) <= 200 and len(groups) > 5
    one, other = (made.backward(made.model.eval(), batch)["loss"].item() for made in (whole, pieces))
    assert one == pytest.approx(other, abs=1e-5)
    for (key, a), (_, b) in zip(whole.model.named_parameters(), pieces.model.named_parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad, atol=2e-5, rtol=1e-3, msg=key)


WRONG = [("match-ignition", "sentences", 0), ("match-ignition", "words_kept", 0.0)]
WRONG += [("opt-match", "share", 0.0), ("opt-match", "share", 2.0)]
WRONG += [("bert-pli", "hidden", 0), ("bert-pli", "paragraph_tokens", 0)]


@pytest.mark.parametrize(("name", "setting", "value"), WRONG)
def test_settings_no_model_can_have_are_refused_by_name(name, setting, value):
    with pytest.raises(LongmatchError, match=f"The setting {setting} is"):
        find_recipe(name).Settings(**{setting: value})
