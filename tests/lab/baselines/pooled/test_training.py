"""The siamese encoder of openings learns to tell pairs apart, and its folder reads as much as training did."""

from pathlib import Path

import numpy as np
import pytest
import torch

import longmatch
from longmatch.documents import read_text_string
from longmatch.encoders.backbone import Backbone
from longmatch.errors import LongmatchError
from longmatch.lab.baselines.pooled.matcher import PooledMatcher
from longmatch.lab.baselines.pooled.training import FirstTokensRecipe, FirstTokensSettings, encode_pieces
from longmatch.lab.training.settings import TrainingSettings
from longmatch.lab.training.train import train
from tests.lab.training.synthetic.classes import common_words
from tests.lab.training.synthetic.wordings import write_two_wordings

LOSSES = ("cross_entropy", "contrastive")


@pytest.fixture(scope="module")
def made(tiny_bert: Path, tmp_path_factory) -> Path:
    return write_two_wordings(tmp_path_factory.mktemp("made") / "wordings", common_words(tiny_bert / "vocab.txt"))


@pytest.fixture(scope="module")
def cache(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def recipe(made, cache, tiny_bert):
    """Makes a recipe over the made collection, without dropout."""

    def make(shared: TrainingSettings | None = None, **own) -> FirstTokensRecipe:
        settings = FirstTokensSettings(backbone=str(tiny_bert), **own)
        found = FirstTokensRecipe.make([made], cache, shared or TrainingSettings(documents=32), settings)
        found.model.eval()
        return found

    return make


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
def test_training_lifts_the_average_precision_of_validation_pairs(recipe, loss):
    made = recipe(loss=loss)
    with torch.no_grad():
        before = made.validate(made.model)
    optimizer = torch.optim.AdamW(made.model.parameters(), lr=2e-3)
    for step in range(30):
        optimizer.zero_grad()
        made.backward(made.model, made.draw(step))
        optimizer.step()
    with torch.no_grad():
        after = made.validate(made.model)
    assert next(iter(after)) == "average_precision"
    assert before["average_precision"] < 0.75 and after["average_precision"] > 0.9


@pytest.mark.parametrize("loss", LOSSES)
def test_a_batch_larger_than_the_device_holds_has_the_gradient_of_the_whole(recipe, loss):
    whole, pieces = recipe(loss=loss), recipe(TrainingSettings(documents=32, tokens_at_once=200), loss=loss)
    batch = whole.draw(0)
    assert len(list(batch.documents.groups(pieces.tokens_per_pass))) > 3
    one, other = (made.backward(made.model, batch)["loss"].item() for made in (whole, pieces))
    assert one == pytest.approx(other, abs=1e-5)
    for a, b in zip(whole.model.parameters(), pieces.model.parameters(), strict=True):
        assert (a.grad is None) == (b.grad is None)
        if a.grad is not None:
            torch.testing.assert_close(a.grad, b.grad, atol=1e-5, rtol=1e-3)


def test_a_batch_holds_each_document_of_its_pairs_once_and_their_labels(recipe):
    made = recipe()
    batch, rows = made.draw(1), made.batch_rows(1)
    source, target, label = batch.targets
    assert len(batch.documents) == len(set(made.pairs.source[rows]) | set(made.pairs.target[rows]))
    assert label.tolist() == made.pairs.label[rows].tolist()
    pieces = batch.documents.ids.split(batch.documents.lengths.tolist())
    for place, number in zip(source.tolist(), made.pairs.source[rows].tolist(), strict=True):
        assert pieces[place][1:-1].tolist() == made.data.tokens[number].ids[:62].tolist()
    for place, number in zip(target.tolist(), made.pairs.target[rows].tolist(), strict=True):
        assert pieces[place][1:-1].tolist() == made.data.tokens[number].ids[:62].tolist()


def test_the_contrastive_batch_knows_every_match_among_its_documents(recipe):
    made = recipe(loss="contrastive")
    batch = made.draw(0)
    rows = made.batch_rows(0)
    assert made.pairs.label[rows].all()
    numbers = np.unique([made.pairs.source[rows], made.pairs.target[rows]])
    assert torch.equal(batch.targets, torch.from_numpy(made.data.related(numbers)))


def test_the_opening_is_as_long_as_asked_and_no_longer_than_the_backbone_reads(recipe):
    assert recipe().layout.limit == 62 and recipe(opening=20).layout.limit == 18
    assert recipe(opening=20).draw(0).documents.lengths.max() == 20
    assert recipe(TrainingSettings(max_tokens=5)).draw(0).documents.lengths.max() == 7
    with pytest.raises(LongmatchError, match="opening is 2; it must be 3 or more"):
        FirstTokensSettings(opening=2)


def test_the_packaged_model_reads_512_tokens_though_its_folder_says_256(made, tmp_path):
    recipe = FirstTokensRecipe.make([made], tmp_path / "cache", TrainingSettings(), FirstTokensSettings())
    recipe.save(tmp_path / "saved")
    assert recipe.layout.limit == Backbone.load(str(tmp_path / "saved")).max_tokens == 510


def test_the_saved_folder_reads_no_more_than_max_tokens_let_training_read(recipe, tmp_path):
    made = recipe(TrainingSettings(max_tokens=20))
    made.save(tmp_path / "saved")
    assert made.layout.limit == Backbone.load(str(tmp_path / "saved")).max_tokens == 20


@pytest.mark.parametrize(
    ("own", "least"), [({"opening": 2}, "3 or more"), ({"validation_pairs": 0}, "2 or more"), ({"scale": 0}, "above 0")]
)
def test_a_setting_that_makes_no_sense_is_one_sentence(own, least):
    (key, value) = next(iter(own.items()))
    with pytest.raises(LongmatchError, match=f"The setting {key} is {value}; it must be {least}."):
        FirstTokensSettings(**own)


def test_runs_that_share_a_cache_tokenise_the_documents_once(made, tiny_bert, tmp_path):
    settings = {
        "backbone": str(tiny_bert),
        "steps": 1,
        "opening": 20,
        "device": "cpu",
        "cache": str(tmp_path / "tokens"),
    }
    changed = []
    for name in ("one", "two"):
        out = train("first", made, tmp_path / name, **settings)
        assert not (out / "training" / "data").exists()
        changed.append([path.stat().st_mtime_ns for path in sorted((tmp_path / "tokens").rglob("*.npy"))])
    assert changed[0] and changed[0] == changed[1]


def test_documents_without_labels_are_refused(made, tiny_bert, tmp_path):
    file = tmp_path / "bare.jsonl"
    file.write_text((made / "documents.jsonl").read_text())
    with pytest.raises(LongmatchError, match="has no labels that tell which documents match"):
        FirstTokensRecipe.make(
            [file], tmp_path / "cache", TrainingSettings(), FirstTokensSettings(backbone=str(tiny_bert))
        )


def test_the_trained_folder_opens_as_first_and_scores_as_training_measured(made, tiny_bert, tmp_path):
    out = train("first", made, tmp_path / "out", backbone=str(tiny_bert), steps=6, opening=40, device="cpu")
    matcher = longmatch.load(out)
    assert isinstance(matcher, PooledMatcher) and matcher.rule == "first" and matcher.backbone.max_tokens == 38
    import json

    record = json.loads((out / "longmatch.json").read_text())
    assert record["model"] == "first" and 0 < record["threshold"] <= 1
    recipe = FirstTokensRecipe.make(
        [made], tmp_path / "cache", TrainingSettings(), FirstTokensSettings(backbone=str(out), opening=40)
    )
    recipe.model.eval()
    with torch.no_grad():
        again = recipe.validate(recipe.model)
    assert again["average_precision"] == pytest.approx(record["scores"]["average_precision"], abs=1e-4)
    lines = [json.loads(line) for line in (made / "documents.jsonl").read_text().splitlines()[:2]]
    a, b = matcher.encode([read_text_string(line["text"], line["id"]) for line in lines])
    with torch.no_grad():
        vectors = encode_pieces(recipe.model, recipe.layout.lay_out([recipe.data.tokens[n] for n in range(2)]))
    wanted = torch.nn.functional.cosine_similarity(vectors[0], vectors[1], dim=0).item()
    assert float(a.vector @ b.vector) == pytest.approx(wanted, abs=0.02)  # in the precision the machine prefers
