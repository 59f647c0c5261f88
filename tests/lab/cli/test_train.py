"""`longmatch train` as it is typed."""

import json

import pytest

RECIPE = "tests.lab.training.tiny_recipe:TinyRecipe"


@pytest.fixture
def numbers(tmp_path):
    path = tmp_path / "numbers.json"
    path.write_text("[1.0, -2.0, 0.5, 3.0]")
    return path


def settings_of(out):
    return json.loads((out / "longmatch.json").read_text(encoding="utf-8"))["settings"]


def test_settings_come_from_the_command_line_and_a_file_and_the_command_line_wins(longmatch, tmp_path, numbers):
    out = tmp_path / "out"
    (tmp_path / "run.toml").write_text(f'model = "{RECIPE}"\ndata = ["{numbers}"]\nsteps = 4\nseed = 2\nwidth = 5\n')
    ran = longmatch("train", "--config", tmp_path / "run.toml", "--out", out, "--set", "seed=3", "--set", "clip=0")
    assert (ran.code, ran.out) == (0, "")
    found = settings_of(out)
    assert (found["steps"], found["seed"], found["width"], found["clip"]) == (4, 3, 5, 0.0)


def test_a_preset_holds_where_nothing_else_is_said(longmatch, tmp_path, numbers):
    out = tmp_path / "out"
    assert longmatch("train", RECIPE, numbers, "--out", out, "--preset", "paper", "--set", "steps=2").code == 0
    assert (settings_of(out)["width"], settings_of(out)["steps"]) == (4, 2)


def test_the_command_on_the_card_is_the_command_again(longmatch, tmp_path, numbers):
    import shlex

    out = tmp_path / "out"
    longmatch("train", RECIPE, "--data", numbers, "--out", out, "--set", "steps=2")
    command = json.loads((out / "longmatch.json").read_text())["command"]
    again = longmatch(*shlex.split(command)[1:])
    assert again.code == 0 and again.err.endswith("to train again.\n") and again.err.count("\n") == 1


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (
            ["--set", "learningrate=3"],
            "There is no setting learningrate. Did you mean learning_rate or",
        ),
        (["--set", "seed=x"], "The setting seed is 'x'; it must be a whole number."),
        (["--set", "out=x"], "There is no setting out. Name one of"),
        (["--set", "seed"], "--set seed is not key=value; write --set seed=3, for example."),
        (["--config", "none.toml"], "none.toml cannot be read (No such file or directory). Name a TOML or JSON file."),
    ],
)
def test_a_wrong_setting_is_one_sentence(longmatch, tmp_path, numbers, more, sentence):
    ran = longmatch("train", RECIPE, "--data", numbers, "--out", tmp_path / "out", *more)
    assert ran.complaint.startswith(sentence)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("words", "missing"), [([], "a model"), ([RECIPE], "--data"), ([RECIPE, "d"], "--out")])
def test_what_is_missing_is_named(longmatch, words, missing):
    assert longmatch("train", *words).complaint == f"Name {missing}: longmatch train MODEL --data DIR --out DIR."


def test_a_loss_that_is_no_number_is_one_sentence(longmatch, tmp_path, numbers):
    (tmp_path / "spoil").write_text("7")
    words = ["--data", numbers, "--out", tmp_path / "out", "--set", f"spoil={tmp_path / 'spoil'}"]
    ran = longmatch("train", RECIPE, *words)
    last = ran.err.splitlines()[-1]
    assert ran.code == 2 and last.startswith("longmatch: The loss at step 8 is nan, so training stopped.")
    assert (tmp_path / "out" / "training" / "checkpoints" / "checkpoint-5" / "model.safetensors").is_file()


def test_the_default_is_made_by_its_own_steps_and_other_models_have_none(longmatch, tmp_path, numbers):
    out = tmp_path / "out"
    assert longmatch("train", "default", "--out", out, "--step", "x").complaint.startswith(
        "There is no step x. Name one"
    )
    assert "no lists of training queries" in longmatch("train", "default", "--out", out, "--step", "weights").err
    assert "one --data" in longmatch("train", "default", "a", "b", "--out", out).complaint
    assert "alone" in longmatch("train", RECIPE, "--data", numbers, "--out", out, "--step", "weights").complaint
