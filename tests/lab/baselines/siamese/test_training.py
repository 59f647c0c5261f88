"""Every baseline learns to tell pairs apart, and opens as what was trained."""

import json

import numpy as np
import pytest
import torch

import longmatch
from longmatch.documents.jsonl import iterate_jsonl
from longmatch.errors import LongmatchError
from longmatch.lab.baselines.siamese.matcher import VectorMatcher
from longmatch.lab.models import SIAMESE
from longmatch.lab.training.settings import TrainingSettings
from longmatch.lab.training.train import find_recipe, train
from tests.lab.training.synthetic.classes import common_words
from tests.lab.training.synthetic.wordings import THEMES, name_of, write_two_wordings

# sizes and the learning rate
TINY = {
    "dssm": ({"buckets": 2000, "hidden": 64, "vector_width": 32}, 4e-3),
    "arc-i": ({"channels": 64, "vector_width": 32}, 2e-3),
    "han": ({"hidden": 32}, 5e-3),
    "smash": ({"hidden": 32}, 5e-3),
    "s-long": ({"opening": 300, "window": 16}, 2e-3),
}


@pytest.fixture(scope="module")
def made(tiny_bert, tmp_path_factory):
    return write_two_wordings(tmp_path_factory.mktemp("made") / "wordings", common_words(tiny_bert / "vocab.txt"))


@pytest.fixture(scope="module")
def recipe(made, tiny_bert, tmp_path_factory):
    """Makes a baseline's recipe over the made collection."""
    cache = tmp_path_factory.mktemp("cache")

    def make(name, shared=None, **own):
        torch.manual_seed(0)
        kind = find_recipe(name)
        settings = TrainingSettings(**{"documents": 32, "tokens_at_once": 10**6, **(shared or {})})
        return kind.make([made], cache, settings, kind.Settings(str(tiny_bert), **{**TINY[name][0], **own}))

    return make


def average_precision(found):
    found.model.eval()
    with torch.no_grad():
        measures = found.validate(found.model)
    assert next(iter(measures)) == "average_precision"
    return measures["average_precision"]


def test_every_baseline_can_be_trained():
    assert set(TINY) == {model.name for model in SIAMESE}
    assert all(find_recipe(name).name == name for name in TINY)


@pytest.mark.slow
@pytest.mark.parametrize("name", TINY)
def test_training_lifts_the_average_precision_of_validation_pairs(recipe, name):
    found = recipe(name)
    before = average_precision(found)
    optimizer = torch.optim.AdamW(found.model.parameters(), lr=TINY[name][1])
    found.model.train()
    for step in range(40):
        optimizer.zero_grad()
        found.backward(found.model, found.draw(step))
        optimizer.step()
    assert before < 0.75 and average_precision(found) > 0.9


@pytest.mark.parametrize("name", TINY)
def test_a_batch_larger_than_the_device_holds_has_the_gradient_of_the_whole(recipe, name):
    whole, pieces = recipe(name), recipe(name, {"tokens_at_once": 400})
    batch = whole.draw(0)
    assert len(list(batch.documents.groups(pieces.tokens_per_pass))) > 3
    one, other = (made.backward(made.model.eval(), batch)["loss"].item() for made in (whole, pieces))
    assert one == pytest.approx(other, abs=1e-5)
    for (key, a), (_, b) in zip(whole.model.named_parameters(), pieces.model.named_parameters(), strict=True):
        assert (a.grad is None) == (b.grad is None)
        if a.grad is not None:
            torch.testing.assert_close(a.grad, b.grad, atol=2e-5, rtol=1e-3, msg=key)
    assert pieces.model.scale.grad.abs() > 0 and pieces.model.middle.grad.abs() > 0


def test_the_loss_is_the_cross_entropy_of_the_chance_that_a_cosine_stands_for(recipe):
    found = recipe("dssm", scale=4.0, middle=0.25)
    batch = found.draw(0)
    source, target, label = batch.targets
    with torch.no_grad():
        vectors = found.model.eval()(batch.documents).vectors
        chance = torch.sigmoid(4 * (torch.nn.functional.cosine_similarity(vectors[source], vectors[target]) - 0.25))
        wanted = torch.nn.functional.binary_cross_entropy(chance, label.float())
    assert found.backward(found.model, batch)["loss"].item() == pytest.approx(wanted.item(), abs=1e-5)


def test_a_batch_holds_each_document_of_its_pairs_once_and_their_labels(recipe):
    found = recipe("han")
    batch, rows = found.draw(1), found.batch_rows(1)
    source, target, label = batch.targets
    assert len(batch.documents) == len(set(found.pairs.source[rows]) | set(found.pairs.target[rows]))
    assert label.tolist() == found.pairs.label[rows].tolist()
    texts = batch.documents.ids.split(batch.documents.lengths.tolist())
    for places, numbers in ((source, found.pairs.source[rows]), (target, found.pairs.target[rows])):
        for place, number in zip(places.tolist(), numbers.tolist(), strict=True):
            assert texts[place].tolist() == found.data.tokens[number].ids.tolist()


def test_a_step_is_drawn_alike_each_time_and_otherwise_with_another_seed(recipe):
    first, again, other = recipe("dssm"), recipe("dssm"), recipe("dssm", {"seed": 9})
    assert torch.equal(first.draw(3).documents.ids, again.draw(3).documents.ids)
    assert not torch.equal(first.draw(3).documents.ids, first.draw(4).documents.ids)
    assert not torch.equal(first.draw(3).documents.ids, other.draw(3).documents.ids)


def test_the_nearer_limit_of_training_and_model_holds(recipe):
    assert recipe("s-long").draw(0).documents.lengths.max() <= 298
    assert recipe("s-long", opening=22).draw(0).documents.lengths.max() == 20
    assert recipe("s-long", {"max_tokens": 7}).draw(0).documents.lengths.max() == 7
    assert recipe("han", {"max_tokens": 7}).model.layout.max_tokens is None  # the trained model reads all
    assert recipe("han", opening=9).model.layout.max_tokens == 9  # in training and afterwards


@pytest.mark.parametrize("name", TINY)
def test_the_trained_folder_opens_and_scores_as_training_measured(made, recipe, tiny_bert, tmp_path, name):
    own, rate = TINY[name]
    out = tmp_path / "out"
    settings = {"steps": 8, "learning_rate": rate, "documents": 32, "device": "cpu", "precision": "float32"}
    train(name, made, out, backbone=str(tiny_bert), **settings, **own)
    record, matcher = json.loads((out / "longmatch.json").read_text()), longmatch.load(out)
    assert isinstance(matcher, VectorMatcher) and record["model"] == name
    assert matcher.threshold == pytest.approx(record["threshold"])
    matcher.precision = "float32"
    found = recipe(name)
    found.model = matcher.model
    assert average_precision(found) == pytest.approx(record["scores"]["average_precision"], abs=1e-6)
    documents = {d.id: d for d in iterate_jsonl(made / "documents.jsonl")}
    numbers = np.array([3, 11])
    encodings = matcher.encode([documents[found.data.tokens.ids[n]] for n in numbers])
    wanted = torch.nn.functional.normalize(found.document_vectors(numbers), dim=1)
    assert torch.allclose(matcher.collect(encodings), wanted, atol=1e-5)
    alignments = matcher.compare(documents[name_of(0, 0)], documents[name_of(THEMES, 0)]).alignments
    assert sum(alignment.contribution for alignment in alignments) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("dssm", {"buckets": 0}),
        ("han", {"hidden": 7}),
        ("smash", {"dropout": 1.0}),
        ("arc-i", {"channels": 0}),
        ("s-long", {"opening": 2}),
        ("s-long", {"window": 0}),
    ],
)
def test_settings_no_model_can_have_are_refused_by_name(name, wrong):
    with pytest.raises(LongmatchError, match=f"The setting {next(iter(wrong))} is"):
        find_recipe(name).Settings(**wrong)


def test_a_backbone_that_is_not_there_is_an_error_of_one_sentence(made, tmp_path):
    for name in TINY:
        kind = find_recipe(name)
        with pytest.raises(LongmatchError, match="cannot be opened") as error:
            kind.make([made], tmp_path, TrainingSettings(), kind.Settings(backbone=str(tmp_path / "none")))
        assert "\n" not in str(error.value)
