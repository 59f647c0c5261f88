"""A trained model's folder stands wherever a model is named."""

import json
import shutil
from pathlib import Path

import pytest


@pytest.fixture
def trained(tiny_bert: Path, tmp_path_factory) -> Path:
    folder = shutil.copytree(tiny_bert, tmp_path_factory.mktemp("out") / "sdr")
    (folder / "longmatch.json").write_text(json.dumps({"model": "sdr", "seed": 1}))
    return folder


def test_compare_takes_a_trained_models_folder(longmatch, folder, trained):
    found = longmatch("compare", folder / "bank.md", folder / "queue.txt", "--json", "--model", trained).json
    assert 0 <= found["score"] <= 1 and found["model"] == str(trained)


def test_rank_takes_a_trained_models_folder_and_every_rule_on_it(longmatch, folder, trained):
    for model in (trained, f"sdr-paragraph@{trained}", f"mean@{trained}"):
        found = longmatch("rank", folder / "bank.md", folder, "--json", "--model", model).json
        assert found["model"] == str(model) and len(found["hits"]) == 4


def test_a_library_says_that_it_cannot_ask_a_trained_model(longmatch, folder, trained, tmp_path):
    assert longmatch("index", tmp_path / "library", folder).code == 0
    said = longmatch("rank", folder / "bank.md", tmp_path / "library", "--model", trained).complaint
    assert "is a library, which" in said and "--model default or sdr" in said


def test_a_backbone_that_was_not_trained_to_match_is_said_in_one_sentence(longmatch, folder, tiny_bert):
    said = longmatch("compare", folder / "bank.md", folder / "queue.txt", "--model", tiny_bert).complaint
    assert f"Name a rule: sdr@{tiny_bert}" in said


def test_a_folder_that_is_not_there_is_said_in_one_sentence(longmatch, folder, tmp_path):
    said = longmatch("compare", folder / "bank.md", folder / "queue.txt", "--model", tmp_path / "nowhere").complaint
    assert said.startswith(f"There is no model {tmp_path / 'nowhere'}.")
