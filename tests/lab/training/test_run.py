"""What the folder of a trained model says about itself."""

import os
import shlex

import pytest
import torch
import yaml

from longmatch.lab.training.run import RECORD, TrainingRun
from longmatch.lab.training.settings import TrainingSettings
from tests.lab.training.conftest import Train
from tests.lab.training.tiny_recipe import NAME, TinyModel, TinySettings


def test_the_card_states_data_settings_seed_scores_and_the_command(tiny: Train, numbers):
    done = tiny(seed=7, accumulate=2)
    card = (done.out / "README.md").read_text(encoding="utf-8")
    _, front, body = card.split("---\n", 2)
    facts = yaml.safe_load(front)
    assert facts["library_name"] == "longmatch" and "tiny" in facts["tags"]
    (result,) = facts["model-index"][0]["results"]
    scores = done.record["scores"]
    assert {found["type"]: found["value"] for found in result["metrics"]} == pytest.approx(scores, abs=1e-5)
    assert f"| closeness | {scores['closeness']:.4f} |" in body and f"| read from | {numbers} |" in body
    assert "Seed 7." in body and "| `accumulate` | 2 |" in body and "| `width` | 8 |" in body
    assert done.record["command"] in body


def test_the_record_names_the_model_as_load_knows_it(tiny: Train, numbers):
    record = tiny(seed=7).record
    assert (record["model"], record["seed"], record["data"]) == ("tiny", 7, [str(numbers)])
    assert record["settings"]["documents"] == 16 and record["settings"]["width"] == 8
    assert record["scores"].keys() == {"closeness", "error"}
    assert record["threshold"] == pytest.approx(record["scores"]["error"] / 2)


def test_the_command_repeats_the_run(tmp_path):
    run = TrainingRun(
        NAME, ("a folder", "b"), tmp_path, TrainingSettings(), TinySettings(), {"seed": 3, "spoil": "a b"}
    )
    words = shlex.split(run.command)
    assert words[:7] == ["longmatch", "train", NAME, "--data", "a folder", "--data", "b"]
    assert words[7:] == ["--out", str(tmp_path), "--set", "seed=3", "--set", "spoil=a b"]


def test_the_folder_opens_as_a_model(tiny: Train):
    model = TinyModel.from_pretrained(tiny().out)
    assert torch.isfinite(model(torch.ones(1, 4))).all()


def test_the_record_comes_last_so_a_folder_that_has_it_is_whole(tmp_path, monkeypatch):
    run = TrainingRun(NAME, (), tmp_path / "out", TrainingSettings(), TinySettings(), {})
    made = run.work_folder / "model.partial"
    made.mkdir(parents=True)
    for name in ("config.json", RECORD, "model.safetensors", "vocab.txt"):
        (made / name).write_text(name)
    times = iter(range(10**9, 10**9 + 10))
    replace = type(made).replace

    def watched(self, target):
        moved = replace(self, target)
        os.utime(moved, (0, next(times)))
        return moved

    monkeypatch.setattr(type(made), "replace", watched)
    run.finish(made)
    assert run.is_done and not made.exists()
    newest = max((path for path in run.out.iterdir() if path.is_file()), key=lambda path: path.stat().st_mtime)
    assert newest.name == RECORD
