"""Match-Ignition and OPT-Match learn from the sentences they select, and open as what was trained."""

import json

import pytest
import torch

import longmatch
from longmatch.documents.jsonl import iterate_jsonl
from longmatch.errors import LongmatchError
from longmatch.models.load import TRAINED
from longmatch.training.pairs import pair_measures
from longmatch.training.recipes import find_recipe
from longmatch.training.settings import TrainingSettings
from longmatch.training.train import train

from ...models.cross.tiny_cross import save_learner
from .made_classes import common_words
from .two_wordings import write_two_wordings

pytestmark = pytest.mark.filterwarnings("ignore::longmatch.errors.LongmatchWarning")
NAMES = ["match-ignition", "opt-match"]
THEMES = 3


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

    def make(name, **own):
        torch.manual_seed(0)
        settings = TrainingSettings(documents=64, tokens_at_once=10**6)
        kind = find_recipe(name)
        return kind.make([made], cache, settings, kind.Settings(str(backbone), side_tokens=18, dropout=0.0, **own))

    return make


def average_precision(found):
    found.model.eval()
    with torch.no_grad():
        return found.validate(found.model)["average_precision"]


@pytest.mark.parametrize("name", NAMES)
def test_training_lifts_the_average_precision_of_validation_pairs(recipe, name):
    found = recipe(name)
    before = average_precision(found)
    optimizer = torch.optim.AdamW(found.model.parameters(), lr=2e-3)
    found.model.train()
    for step in range(70):
        optimizer.zero_grad()
        found.backward(found.model, found.draw(step))
        optimizer.step()
    assert before < 0.75 and average_precision(found) > 0.9


@pytest.mark.parametrize("name", NAMES)
def test_the_trained_folder_opens_and_scores_as_training_measured(made, recipe, backbone, tmp_path, name):
    quick = {"steps": 12, "learning_rate": 2e-3, "documents": 32, "device": "cpu", "precision": "float32"}
    out = train(name, made, tmp_path / "out", backbone=str(backbone), side_tokens=18, **quick)
    record, matcher = json.loads((out / "longmatch.json").read_text()), longmatch.load(out)
    assert record["model"] == name and type(matcher).__name__ == TRAINED[name].split(":")[1]
    matcher.precision = "float32"
    found = recipe(name)
    documents = {d.id: d for d in iterate_jsonl(made / "documents.jsonl")}
    named = [documents[id] for id in found.data.shelf.ids]
    pairs = zip(found.held_out.source.tolist(), found.held_out.target.tolist(), strict=True)
    measured = pair_measures(matcher.score_pairs([(named[a], named[b]) for a, b in pairs]), found.held_out.label)
    assert measured["average_precision"] == pytest.approx(record["scores"]["average_precision"], abs=1e-4)
    assert matcher.threshold == pytest.approx(measured["threshold"], abs=1e-4)


def test_settings_reach_the_selection(recipe):
    assert recipe("match-ignition", sentences=2).layout.selection.most == 2
    assert recipe("opt-match", share=0.3).layout.selection.share == 0.3


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("match-ignition", {"sentences": 0}), ("opt-match", {"share": 0.0}), ("opt-match", {"share": 2})],
)
def test_settings_no_model_can_have_are_refused_by_name(name, wrong):
    with pytest.raises(LongmatchError, match=f"The setting {next(iter(wrong))} is"):
        find_recipe(name).Settings(**wrong)
