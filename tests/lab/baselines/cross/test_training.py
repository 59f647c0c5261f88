"""The cross-encoder learns to tell pairs apart, and opens as what was trained."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

import longmatch
from longmatch.documents.jsonl import iterate_jsonl
from longmatch.errors import LongmatchError
from longmatch.lab.baselines.cross.matcher import CrossMatcher
from longmatch.lab.baselines.cross.selection import SelectedSentences, Selection
from longmatch.lab.baselines.cross.training import CrossRecipe, CrossSettings
from longmatch.lab.training.labelled_recipe import pair_measures
from longmatch.lab.training.settings import TrainingSettings
from longmatch.lab.training.train import find_recipe, train
from tests.lab.baselines.cross.tiny_cross import save_learner
from tests.lab.training.synthetic.classes import common_words
from tests.lab.training.synthetic.wordings import write_two_wordings

pytestmark = pytest.mark.filterwarnings("ignore::longmatch.errors.LongmatchWarning")
THEMES = 3


class SentenceOfTheView(Selection):
    """View v reads sentence v."""

    def choose(self, a, b, limit, views, seed):
        return [SelectedSentences(np.array([view]), np.array([view])) for view in views]


class ViewRecipe(CrossRecipe):
    """Reads another sentence in every view."""

    def __init__(self, *opened):
        super().__init__(*opened)
        self.layout = replace(self.layout, selection=SentenceOfTheView())


@pytest.fixture(scope="module")
def backbone(tiny_bert, tmp_path_factory):
    return save_learner(tiny_bert, tmp_path_factory.mktemp("learner"))


@pytest.fixture(scope="module")
def made(tiny_bert, tmp_path_factory):
    words = common_words(tiny_bert / "vocab.txt")
    return write_two_wordings(tmp_path_factory.mktemp("made") / "wordings", words, THEMES)


@pytest.fixture(scope="module")
def recipe(made, backbone, tmp_path_factory):
    """Makes the recipe over the made collection."""
    cache = tmp_path_factory.mktemp("cache")

    def make(shared=None, kind=CrossRecipe, **own):
        torch.manual_seed(0)
        settings = TrainingSettings(**{"documents": 64, "tokens_at_once": 10**6, **(shared or {})})
        own = {"side_tokens": 16, "dropout": 0.0, **own}
        return kind.make([made], cache, settings, CrossSettings(str(backbone), **own))

    return make


def average_precision(found):
    found.model.eval()
    with torch.no_grad():
        measures = found.validate(found.model)
    assert next(iter(measures)) == "average_precision"
    return measures["average_precision"]


def rows_of(batch):
    return [ids.tolist() for ids in batch.text.ids.split(batch.text.lengths.tolist())]


@pytest.mark.slow
def test_training_lifts_the_average_precision_of_validation_pairs(recipe):
    found = recipe()
    before = average_precision(found)
    optimizer = torch.optim.AdamW(found.model.parameters(), lr=2e-3)
    found.model.train()
    for step in range(80):
        optimizer.zero_grad()
        found.backward(found.model, found.draw(step))
        optimizer.step()
    assert before < 0.75 and average_precision(found) > 0.9


def test_the_loss_is_the_mean_cross_entropy_of_the_two_classes(recipe):
    found = recipe()
    batch = found.draw(0)
    with torch.no_grad():
        model = found.model.eval()
        wanted = [
            -model(torch.tensor([row]), torch.ones(1, len(row)), (torch.arange(len(row)) >= second)[None])
            .logits.log_softmax(1)[0, label]
            .item()
            for row, second, label in zip(rows_of(batch.rows), batch.rows.second, batch.label, strict=True)
        ]
    assert found.backward(found.model, batch)["loss"].item() == pytest.approx(np.mean(wanted), abs=1e-5)


def test_a_batch_larger_than_the_device_holds_has_the_gradient_of_the_whole(recipe):
    whole, pieces = recipe(), recipe({"tokens_at_once": 200})
    batch = whole.draw(0)
    assert len(list(batch.groups(pieces.tokens_per_pass))) > 3
    one, other = (made.backward(made.model.eval(), batch)["loss"].item() for made in (whole, pieces))
    assert one == pytest.approx(other, abs=1e-5)
    for (key, a), (_, b) in zip(whole.model.named_parameters(), pieces.model.named_parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad, atol=2e-5, rtol=1e-3, msg=key)


def test_a_batch_holds_the_openings_of_its_pairs_and_their_labels(recipe):
    found = recipe()
    batch, chosen = found.draw(1), found.batch_rows(1)
    assert batch.label.tolist() == found.pairs.label[chosen].tolist() and len(chosen) == 32
    for row, number in zip(rows_of(batch.rows), chosen.tolist(), strict=True):
        a, b = (found.data.tokens[side[number]].ids[:16].tolist() for side in (found.pairs.source, found.pairs.target))
        assert row == [2, *a, 3, *b, 3]


def test_a_step_is_drawn_alike_each_time_and_otherwise_with_another_seed(recipe):
    first, again, other = recipe(), recipe(), recipe({"seed": 9})
    assert torch.equal(first.draw(3).rows.text.ids, again.draw(3).rows.text.ids)
    assert not torch.equal(first.draw(3).rows.text.ids, first.draw(4).rows.text.ids)
    assert not torch.equal(first.draw(3).rows.text.ids, other.draw(3).rows.text.ids)
    assert other.model.config.seed == 9


def test_each_epoch_reads_the_view_of_its_number(recipe):
    found = recipe(kind=ViewRecipe)
    for epoch in (0, 1, 4):
        step = epoch * found.steps_per_epoch + 1
        for row, number in zip(rows_of(found.draw(step).rows), found.batch_rows(step).tolist(), strict=True):
            tokens = found.data.tokens[found.pairs.source[number]]
            first, last = tokens.sentence_offsets[epoch : epoch + 2]
            wanted = tokens.ids[first:last][:16].tolist()
            assert row[1 : len(wanted) + 2] == [*wanted, 3]


def test_validation_pools_the_views_that_the_model_will_read(recipe):
    found = recipe(kind=ViewRecipe)
    plain = average_precision(found)
    found.model.config.views, found.model.config.pool = 3, "mean"
    del found.held_out_rows
    assert sum(map(len, found.held_out_rows)) == 3 * len(found.held_out)
    assert average_precision(found) != plain


def test_no_more_is_read_than_training_allows(recipe):
    found = recipe({"max_tokens": 5})
    assert found.layout.limit == found.model.config.side_tokens == 5
    assert found.draw(0).rows.text.lengths.max() == 13


def test_the_trained_folder_opens_and_scores_as_training_measured(made, recipe, backbone, tmp_path):
    out = tmp_path / "out"
    settings = {"steps": 12, "learning_rate": 2e-3, "documents": 32, "device": "cpu", "precision": "float32"}
    train("cross", made, out, backbone=str(backbone), side_tokens=16, **settings)
    record, matcher = json.loads((out / "longmatch.json").read_text()), longmatch.load(out)
    assert isinstance(matcher, CrossMatcher) and record["model"] == "cross"
    assert matcher.threshold == pytest.approx(record["threshold"])
    matcher.precision = "float32"
    found = recipe()
    documents = {d.id: d for d in iterate_jsonl(made / "documents.jsonl")}
    named = [documents[id] for id in found.data.tokens.ids]
    pairs = zip(found.held_out.source.tolist(), found.held_out.target.tolist(), strict=True)
    scores = matcher.score_pairs([(named[a], named[b]) for a, b in pairs])
    measured = pair_measures(scores, found.held_out.label)
    assert measured["average_precision"] == pytest.approx(record["scores"]["average_precision"], abs=1e-4)
    assert measured["threshold"] == pytest.approx(record["threshold"], abs=1e-4)


@pytest.mark.parametrize("wrong", [{"side_tokens": 0}, {"dropout": 1.0}, {"validation_pairs": 1}])
def test_settings_no_model_can_have_are_refused_by_name(wrong):
    with pytest.raises(LongmatchError, match=f"The setting {next(iter(wrong))} is"):
        find_recipe("cross").Settings(**wrong)


def test_a_backbone_that_is_not_there_is_an_error_of_one_sentence(made, tmp_path):
    with pytest.raises(LongmatchError, match="cannot be opened") as error:
        CrossRecipe.make([made], tmp_path, TrainingSettings(), CrossSettings(backbone=str(tmp_path / "none")))
    assert "\n" not in str(error.value)
