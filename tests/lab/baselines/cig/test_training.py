"""CIG learns from the concepts of labelled pairs, and opens as what was trained."""

import json
from collections import Counter

import numpy as np
import pytest
import torch

import longmatch
from longmatch.documents.jsonl import iterate_jsonl
from longmatch.errors import LongmatchError
from longmatch.lab.baselines.cig.matcher import CigMatcher
from longmatch.lab.baselines.cig.training import CigRecipe, CigSettings
from longmatch.lab.training.labelled_recipe import pair_measures
from longmatch.lab.training.settings import TrainingSettings
from longmatch.lab.training.train import find_recipe, train
from longmatch.lab.words import TokenWords
from tests.lab.training.synthetic.classes import common_words
from tests.lab.training.synthetic.shared_themes import write_shared_themes

OWN = {"channels": 32, "hidden": 32, "dropout": 0.0}
STEPS = 60


@pytest.fixture(scope="module")
def made(tiny_bert, tmp_path_factory):
    return write_shared_themes(tmp_path_factory.mktemp("made") / "themes", common_words(tiny_bert / "vocab.txt"))


@pytest.fixture(scope="module")
def recipe(made, tiny_bert, tmp_path_factory):
    """Makes the recipe over the made collection."""
    cache = tmp_path_factory.mktemp("cache")

    def make(budget=10**6, **own):
        torch.manual_seed(0)
        settings = TrainingSettings(documents=64, tokens_at_once=budget)
        return CigRecipe.make([made], cache, settings, CigSettings(str(tiny_bert), **{**OWN, **own}))

    return make


def average_precision(found):
    found.model.eval()
    with torch.no_grad():
        return found.validate(found.model)["average_precision"]


@pytest.mark.slow
@pytest.mark.parametrize(("siamese", "reached"), [(True, 0.95), (False, 0.6)])
def test_training_lifts_the_average_precision_of_validation_pairs(recipe, siamese, reached):
    found = recipe(siamese=siamese)
    before = average_precision(found)
    optimizer = torch.optim.AdamW(found.model.parameters(), lr=3e-3)
    falling = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, STEPS)  # as the trainer's own
    found.model.train()
    for step in range(STEPS):
        optimizer.zero_grad()
        found.backward(found.model, found.draw(step))
        torch.nn.utils.clip_grad_norm_(found.model.parameters(), 1.0)
        optimizer.step()
        falling.step()
    assert before < reached - 0.1 and average_precision(found) > reached


@pytest.mark.parametrize("siamese", [True, False])
def test_the_trained_folder_opens_and_scores_as_training_measured(made, recipe, tiny_bert, tmp_path, siamese):
    quick = {"steps": 12, "documents": 32, "device": "cpu", "precision": "float32", "siamese": siamese}
    out = train("cig", made, tmp_path / "out", backbone=str(tiny_bert), **OWN, **quick)
    record, matcher = json.loads((out / "longmatch.json").read_text()), longmatch.load(out)
    assert record["model"] == "cig" and isinstance(matcher, CigMatcher)
    found = recipe()
    documents = {d.id: d for d in iterate_jsonl(made / "documents.jsonl")}
    named = [documents[id] for id in found.data.tokens.ids]
    pairs = zip(found.held_out.source.tolist(), found.held_out.target.tolist(), strict=True)
    measured = pair_measures(matcher.score_pairs([(named[a], named[b]) for a, b in pairs]), found.held_out.label)
    assert measured["average_precision"] == pytest.approx(record["scores"]["average_precision"], abs=1e-4)
    assert matcher.threshold == pytest.approx(measured["threshold"], abs=1e-4)


def test_a_batch_in_groups_is_read_as_it_is_whole(recipe):
    whole, pieces = recipe(), recipe(budget=300)
    batch = whole.draw(0)
    groups = list(batch.groups(300))
    assert len(groups) > 4 and batch.tokens == sum(len(graphs.ids) for graphs, _ in groups)
    one, other = (made.backward(made.model.eval(), batch)["loss"].item() for made in (whole, pieces))
    assert one == pytest.approx(other, abs=1e-5)
    for (key, a), (_, b) in zip(whole.model.named_parameters(), pieces.model.named_parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad, atol=2e-5, rtol=1e-3, msg=key)


def test_how_rare_words_are_is_known_from_the_documents_of_training_alone(recipe):
    found = recipe()
    known, table = found.model.frequencies, found.pairs
    numbers = np.unique(np.concatenate([table.source, table.target]))
    words, counted = TokenWords.of(found.tokenizer.backend_tokenizer), Counter()
    for number in numbers.tolist():
        counted.update(words.words(found.data.tokens[number]).counts.ids.tolist())
    assert known.documents == len(numbers) < len(found.data.tokens.ids)
    wanted = {word: count for word, count in counted.items() if count > 1}
    assert dict(zip(known.ids.tolist(), known.counts.tolist(), strict=True)) == wanted


def test_without_siamese_features_no_word_is_read(recipe):
    found = recipe(siamese=False)
    batch = found.draw(0)
    [(graphs, _)] = batch.groups(1)
    assert batch.tokens == len(graphs.ids) == 0 and len(graphs.features) == int(graphs.nodes.sum())
    assert not any(name.startswith(("words", "convolution")) for name, _ in found.model.named_parameters())


def test_the_concepts_of_a_pair_are_found_once(recipe):
    found = recipe()
    first, again = found.draw(0).graphs, found.draw(0).graphs
    assert all(one.features is other.features for one, other in zip(first, again, strict=True))


@pytest.mark.parametrize(("setting", "value"), [("layers", 0), ("keywords", 0), ("hidden", 0), ("dropout", 1.0)])
def test_settings_no_model_can_have_are_refused_by_name(setting, value):
    with pytest.raises(LongmatchError, match=f"The setting {setting} is"):
        find_recipe("cig").Settings(**{setting: value})
