"""SST learns to tell pairs apart from views of their subtopics, and opens as what was trained."""

import json
import shutil

import numpy as np
import pytest
import torch

import longmatch
from longmatch.documents.jsonl import iterate_jsonl
from longmatch.errors import LongmatchError
from longmatch.lab.papers.sst.matcher import CLUSTERS, SstMatcher
from longmatch.lab.papers.sst.network import ClusterConfig, ClusterModel
from longmatch.lab.papers.sst.selection import NetworkClustering
from longmatch.lab.papers.sst.training import SstRecipe, SstSettings
from longmatch.lab.training.labelled_recipe import pair_measures
from longmatch.lab.training.settings import TrainingSettings
from longmatch.lab.training.train import train
from longmatch.units import tokenize
from tests.lab.baselines.cross.tiny_cross import save_learner
from tests.lab.training.synthetic.classes import common_words
from tests.lab.training.synthetic.wordings import write_two_wordings

pytestmark = pytest.mark.filterwarnings("ignore::longmatch.errors.LongmatchWarning")
THEMES = 3
QUICK = {"steps": 12, "learning_rate": 2e-3, "documents": 32, "device": "cpu", "precision": "float32"}


@pytest.fixture(scope="module")
def backbone(tiny_bert, tmp_path_factory):
    return save_learner(tiny_bert, tmp_path_factory.mktemp("learner"))


@pytest.fixture(scope="module")
def made(tiny_bert, tmp_path_factory):
    words = common_words(tiny_bert / "vocab.txt")
    return write_two_wordings(tmp_path_factory.mktemp("made") / "wordings", words, THEMES)


@pytest.fixture(scope="module")
def network(tiny_roberta, tmp_path_factory):
    """A cluster network over a backbone with another tokenizer; as sure of its clusters as a trained one."""
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("network")
    made = ClusterModel(ClusterConfig(backbone=str(tiny_roberta), vector_width=32, hidden=16))
    with torch.no_grad():
        made.head.weight *= 50
    made.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def recipe(made, backbone, cache):
    """Makes the recipe over the made collection."""

    def make(shared=None, **own):
        torch.manual_seed(0)
        settings = TrainingSettings(**{"documents": 64, "tokens_at_once": 10**6, "device": "cpu", **(shared or {})})
        own = {"side_tokens": 18, "dropout": 0.0, **own}
        return SstRecipe.make([made], cache, settings, SstSettings(str(backbone), **own))

    return make


def average_precision(found):
    found.model.eval()
    with torch.no_grad():
        return found.validate(found.model)["average_precision"]


def drawn(found, step):
    return found.draw(step).rows.text.ids.tolist()


@pytest.mark.slow
def test_training_on_views_lifts_the_average_precision_of_validation_pairs(recipe):
    found = recipe()
    before = average_precision(found)
    optimizer = torch.optim.AdamW(found.model.parameters(), lr=2e-3)
    found.model.train()
    for step in range(60):
        optimizer.zero_grad()
        found.backward(found.model, found.draw(step))
        optimizer.step()
    assert before < 0.75 and average_precision(found) > 0.9


def test_epoch_t_reads_view_t(recipe):
    found = recipe()
    for epoch in (0, 1, 5):
        step = epoch * found.steps_per_epoch + 1
        pairs = list(found.token_pairs(found.pairs, found.batch_rows(step)))
        wanted, another = (found.layout.lay_out(pairs, [view]).text.ids for view in (epoch, epoch + 1))
        assert torch.equal(found.draw(step).rows.text.ids, wanted) and not torch.equal(wanted, another)


def test_without_temporal_aggregation_every_epoch_reads_the_first_view(recipe):
    found = recipe(temporal=False)
    step = 4 * found.steps_per_epoch + 1
    pairs = list(found.token_pairs(found.pairs, found.batch_rows(step)))
    assert torch.equal(found.draw(step).rows.text.ids, found.layout.lay_out(pairs, [0]).text.ids)


def test_with_a_view_range_epochs_read_reordered_views_and_validation_the_views_as_drawn(recipe):
    found, plain = recipe({"epochs": 4}, view_range=8), recipe({"epochs": 4})
    assert (found.training_layout.selection.width, found.training_layout.selection.epochs) == (8, 4)
    read = [drawn(found, epoch * found.steps_per_epoch) for epoch in range(4)]
    assert all(rows != drawn(plain, epoch * plain.steps_per_epoch) for epoch, rows in enumerate(read))
    assert found.validate(found.model.eval()) == plain.validate(plain.model.eval())


@pytest.mark.slow
def test_with_attention_every_epoch_reads_all_views_and_its_weights_learn(recipe):
    found = recipe(attention=True, views=2)
    before = average_precision(found)
    pairs = list(found.token_pairs(found.pairs, found.batch_rows(4 * found.steps_per_epoch)))
    batch = found.draw(4 * found.steps_per_epoch)
    assert torch.equal(batch.rows.text.ids, found.layout.lay_out(pairs, [0, 1]).text.ids)
    assert len(batch.rows) == 2 * len(batch.label) and batch.rows.joined_views == 2
    optimizer, began = torch.optim.AdamW(found.model.parameters(), lr=2e-3), found.model.question.weight.clone()
    found.model.train()
    for step in range(60):
        optimizer.zero_grad()
        found.backward(found.model, found.draw(step))
        optimizer.step()
    assert not torch.equal(began, found.model.question.weight)
    assert before < 0.75 and average_precision(found) > 0.9


def test_attention_over_groups_of_pairs_is_attention_over_all_of_them(recipe):
    whole, pieces = recipe(attention=True), recipe({"tokens_at_once": 400}, attention=True)
    batch = whole.draw(0)
    assert len(list(batch.groups(pieces.tokens_per_pass))) > 3
    one, other = (made.backward(made.model.eval(), batch)["loss"].item() for made in (whole, pieces))
    assert one == pytest.approx(other, abs=1e-5)
    for (key, a), (_, b) in zip(whole.model.named_parameters(), pieces.model.named_parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad, atol=2e-5, rtol=1e-3, msg=key)


def test_the_same_seed_draws_the_same_views_and_another_others(recipe):
    first, again, other = recipe(), recipe(), recipe({"seed": 9})
    assert drawn(first, 3) == drawn(again, 3) and first.model.config.seed == 0 and other.model.config.seed == 9
    pair = next(first.token_pairs(first.pairs, np.array([0])))
    one, two = (str(r.layout.excerpts(pair, range(6))) for r in (first, other))
    assert one == str(again.layout.excerpts(pair, range(6))) != two


def test_a_cluster_network_finds_the_subtopics_from_vectors_made_before(recipe, network, made):
    found = recipe(clustering="adaptive", clusters=str(network))
    clustering = found.layout.selection.clustering
    assert isinstance(clustering, NetworkClustering)
    documents = {d.id: d for d in iterate_jsonl(made / "documents.jsonl")}
    a, b = next(found.token_pairs(found.held_out, np.array([3])))
    ours = found.layout.selection.clusters(a, b)
    theirs = found.network.assign(
        *(tokenize(documents[t.document.id], found.network.backbone.tokenizer) for t in (a, b))
    )
    assert np.concatenate(ours.sides).tolist() == theirs.argmax(1).tolist()


@pytest.mark.parametrize("swap", [False, True])
def test_subtopics_found_for_all_pairs_before_are_those_found_when_a_pair_is_drawn(recipe, network, monkeypatch, swap):
    by = {"clustering": "adaptive", "clusters": str(network), "swap": swap}
    lazy, prepared = recipe(**by), recipe(**by)
    prepared.prepare_pairs(prepared.layout.selection)
    monkeypatch.setattr(NetworkClustering, "clusters_of_pairs", lambda self, pairs: [] if not pairs else pytest.fail())
    rows = [prepared.draw(step).rows for step in range(2 * prepared.steps_per_epoch)]
    held_out = prepared.held_out_rows
    monkeypatch.undo()
    assert all(torch.equal(lazy.draw(step).rows.text.ids, found.text.ids) for step, found in enumerate(rows))
    assert all(torch.equal(a.text.ids, b.text.ids) for a, b in zip(lazy.held_out_rows, held_out, strict=True))


@pytest.mark.parametrize("adaptive", [False, True])
def test_the_trained_folder_opens_alone_and_scores_as_training_measured(
    made, recipe, backbone, network, tmp_path, adaptive
):
    other = tmp_path / "network"
    shutil.copytree(network, other)
    by = {"clustering": "adaptive", "clusters": str(other)} if adaptive else {}
    out = train("sst", made, tmp_path / "out", backbone=str(backbone), side_tokens=18, pool="mean", **by, **QUICK)
    shutil.rmtree(other)
    moved = tmp_path / "moved"
    out.rename(moved)
    record, matcher = json.loads((moved / "longmatch.json").read_text()), longmatch.load(moved)
    assert isinstance(matcher, SstMatcher) and record["model"] == "sst"
    assert (moved / CLUSTERS / "config.json").is_file() == adaptive
    matcher.precision = "float32"
    found = recipe()
    documents = {d.id: d for d in iterate_jsonl(made / "documents.jsonl")}
    named = [documents[id] for id in found.data.tokens.ids]
    pairs = zip(found.held_out.source.tolist(), found.held_out.target.tolist(), strict=True)
    scores = matcher.score_pairs([(named[a], named[b]) for a, b in pairs])
    measured = pair_measures(scores, found.held_out.label)
    assert measured["average_precision"] == pytest.approx(record["scores"]["average_precision"], abs=1e-4)
    assert matcher.threshold == pytest.approx(measured["threshold"], abs=1e-4)


def test_a_cluster_network_of_another_size_is_refused_with_what_to_add(recipe, network):
    with pytest.raises(LongmatchError, match=r"clusters of 6 sentences.*Add --set size=6 --set sentences=40"):
        recipe(clustering="adaptive", clusters=str(network), size=4.0)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"clustering": "adaptive"}, "longmatch train sst-clusters"),
        ({"clusters": "somewhere"}, "--set clustering=adaptive"),
        ({"views": 0}, "The setting views is 0"),
        ({"sentences": 0}, "The setting sentences is 0"),
        ({"size": 0.0}, "The setting size is 0.0"),
        ({"view_range": 0}, "The setting view_range is 0"),
        ({"view_range": 41}, "view_range, at most 40"),
        ({"view_range": 10, "temporal": False}, "leave it out without temporal aggregation"),
    ],
)
def test_settings_no_model_can_have_are_refused_in_a_sentence(wrong, sentence):
    with pytest.raises(LongmatchError, match=sentence) as error:
        SstSettings(**wrong)
    assert "\n" not in str(error.value)
