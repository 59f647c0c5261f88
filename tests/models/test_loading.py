"""Trained models open by their folder or hub id; what cannot be opened is said in one sentence."""

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import longmatch
from longmatch.default import statistics as background
from longmatch.documents import Document
from longmatch.encoders.pretrained import is_default
from longmatch.encoders.token_vectors import TokenVectors
from longmatch.errors import LongmatchError
from longmatch.lab.baselines.pooled.matcher import PooledMatcher
from longmatch.models.loading import load
from longmatch.models.registry import models
from longmatch.models.sdr.matcher import SdrMatcher


@pytest.fixture
def trained(tiny_bert: Path, tmp_path: Path):
    """A folder as `longmatch train` leaves it."""

    def make(model: object) -> Path:
        folder = shutil.copytree(tiny_bert, tmp_path / "out" / "trained")
        (folder / "longmatch.json").write_text(json.dumps({"model": model, "seed": 1}))
        return folder

    return make


def test_a_folder_opens_as_the_model_it_was_trained_to_be(trained, examples: dict[str, Document]):
    folder = trained("sdr-plain")
    for name in (folder, str(folder)):
        matcher = load(name)
        assert isinstance(matcher, SdrMatcher) and not matcher.normalise
        assert matcher.name == str(folder) and matcher.backbone.width == 32
    pair = list(examples.values())[:2]
    assert load(folder).compare(*pair).score == load(f"sdr-plain@{folder}").compare(*pair).score


@pytest.mark.parametrize("rule", [each.name for each in models().values() if each.rule and each.place == "backbone"])
def test_every_rule_reads_with_a_trained_folder_too(trained, rule):
    matcher = load(f"{rule}@{trained('sdr')}")
    assert matcher.backbone.width == 32
    assert type(matcher) is type(load(rule, matcher.backbone))


def test_a_path_with_an_at_sign_is_still_a_path(trained):
    folder = trained("first")
    other = folder.rename(folder.with_name("me@home"))
    assert isinstance(load(other), PooledMatcher)


def test_a_trained_model_of_the_hub_in_the_cache_opens_by_its_id(trained, tmp_path):
    place = tmp_path / "hub" / "models--people--model"
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text("a" * 40)
    shutil.copytree(trained("sdr-paragraph"), place / "snapshots" / ("a" * 40))
    code = "import longmatch; m = longmatch.load('people/model'); print(m.name, m.whole_paragraphs, m.backbone.width)"
    settings = {"HF_HUB_CACHE": str(tmp_path / "hub"), "HF_HUB_OFFLINE": "1", "OMP_WAIT_POLICY": "PASSIVE"}
    done = subprocess.run([sys.executable, "-c", code], env=settings, capture_output=True, text=True, check=False)
    assert done.stdout == "people/model True 32\n", done.stderr


def test_the_public_function_is_not_hidden_by_a_module_of_its_name():
    assert not any(find_spec(f"longmatch.{name}") for name in longmatch.__all__)


def refused(name: str | Path) -> str:
    with pytest.raises(LongmatchError) as error:
        load(name)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_backbone_without_a_record_is_refused_with_the_name_that_works(tiny_bert):
    assert f"sdr@{tiny_bert}" in refused(tiny_bert)
    assert load(f"sdr@{tiny_bert}").backbone.width == 32


def test_a_folder_whose_training_was_stopped_is_refused_with_what_to_do(tmp_path):
    (tmp_path / "training").mkdir()
    (tmp_path / "training" / "run.json").write_text("{}")
    assert "is not trained to the end. Run its command again" in refused(tmp_path)


@pytest.mark.parametrize("model", ["nosuch", "tfidf", "llm"])
def test_a_record_of_a_model_that_cannot_be_trained_is_refused(trained, model):
    assert f"names the model '{model}', which is none of default, sdr" in refused(trained(model))


@pytest.mark.parametrize("text", ["{", "[]", "{}", ""])
def test_a_damaged_record_is_refused(trained, text):
    folder = trained("sdr")
    (folder / "longmatch.json").write_text(text)
    assert "does not say which model it is" in refused(folder)


@pytest.mark.parametrize("name", ["nowhere/at/all", "./nowhere", "tfdif"])
def test_a_folder_that_does_not_exist_is_no_model_and_the_network_is_not_asked(name):
    assert refused(name).startswith(f"There is no model {name}. Name one of default, sdr")


def test_a_mistyped_folder_below_an_existing_one_is_no_hub_id(trained, monkeypatch, tmp_path):
    trained("sdr")
    monkeypatch.chdir(tmp_path)
    assert "hub" not in refused("out/traned")
    assert isinstance(load("out/trained"), SdrMatcher)


def test_a_model_that_must_be_trained_first_says_how():
    assert "longmatch train colde --data DIR --out FOLDER" in refused("colde")


def test_a_fixed_model_takes_no_trained_folder(trained):
    folder = trained("sdr")
    assert "takes no backbone" in refused(f"bm25@{folder}")


def test_the_default_sums_the_packaged_token_vectors_and_sdr_reads_with_minilm_as_it_was_published():
    matcher, sdr = load(), load("sdr")
    assert matcher.backbone is TokenVectors.load() and matcher.statistics is background.shipped_statistics()
    assert is_default(sdr.backbone.name)
    assert background.background_of(sdr.backbone).vectors.shape[1] == sdr.backbone.width


def test_the_default_takes_another_backbone_and_lets_it_read_unrelated_sentences(tiny_bert):
    matcher = load(f"default@{tiny_bert}")
    assert matcher.backbone.name == str(tiny_bert)
    assert matcher.statistics.sentences.vectors.shape[1] == matcher.backbone.width
