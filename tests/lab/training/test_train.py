"""A run from beginning to end: going on, stopping early, stopping for good, being done."""

import json
import re
import shutil

import pytest
import torch
from filelock import FileLock
from safetensors.torch import load_file

from longmatch.errors import LongmatchError
from longmatch.lab.training.trainer import RecipeTrainer
from tests.lab.training.conftest import Train, flat
from tests.lab.training.tiny_recipe import NAME, TinyModel


def whole_folder(folder):
    """Every file but the lock, with its content."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != "lock"}


@pytest.mark.parametrize(
    "settings",
    [
        {"steps": 20, "save_every": 3, "keep": 20, "new_layer": True},
        pytest.param(
            {"steps": 20, "accumulate": 3, "schedule": "cosine", "warmup": 0.3, "workers": 2, "keep": 20},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_from_any_checkpoint_a_run_ends_as_if_never_stopped(tiny: Train, settings):
    whole = tiny("whole", **settings)
    steps = sorted(int(path.name.split("-")[1]) for path in whole.checkpoints.iterdir())
    assert steps[-1] == 20 and len(steps) >= 4
    for step in steps:
        again = whole.out.with_name(f"from-{step}")
        shutil.copytree(whole.out / "training", again / "training")
        for later in (s for s in steps if s > step):
            shutil.rmtree(again / "training" / "checkpoints" / f"checkpoint-{later}")
        resumed = tiny(again.name, **settings)
        assert torch.allclose(resumed.weights, whole.weights, rtol=0, atol=1e-5)
        assert resumed.record["loss"] == pytest.approx(whole.record["loss"], abs=1e-5)
        assert resumed.record["scores"] == pytest.approx(whole.record["scores"], abs=1e-5)


def test_dropout_takes_part_so_another_seed_ends_elsewhere(tiny: Train):
    assert not torch.allclose(tiny("a", seed=1).weights, tiny("b", seed=2).weights, atol=1e-3)


def test_the_same_settings_give_the_same_weights(tiny: Train):
    assert torch.equal(tiny("a", seed=1).weights, tiny("b", seed=1, workers=2).weights)


def test_a_checkpoint_written_in_part_is_not_gone_on_from(tiny: Train):
    whole = tiny("whole", keep=9)
    again = whole.out.with_name("again")
    shutil.copytree(whole.out / "training", again / "training")
    last = again / "training" / "checkpoints" / "checkpoint-20"
    state = (last / "trainer_state.json").read_text()
    (last / "trainer_state.json").write_text(state[: len(state) // 2])
    (last / "model.safetensors").write_bytes(b"half")
    assert torch.equal(tiny("again", keep=9).weights, whole.weights)


def test_weights_that_do_not_fit_are_an_error_not_a_new_beginning(tiny: Train):
    narrow = tiny("narrow")
    shutil.copytree(narrow.out / "training", narrow.out.with_name("again") / "training")
    for path in narrow.out.with_name("again").rglob("model.safetensors"):
        from safetensors.torch import save_file

        save_file({f"other.{name}": value for name, value in load_file(path).items()}, path, {"format": "pt"})
    with pytest.raises(LongmatchError, match="do not fit the model"):
        tiny("again")


def test_the_best_weights_are_kept_not_the_last(tiny: Train):
    done = tiny(steps=60, aim=0.2, learning_rate=0.05, keep=99)
    best = done.record["best_step"]
    assert best < 60
    assert torch.equal(done.weights, flat(done.checkpoints / f"checkpoint-{best}"))
    assert not torch.equal(done.weights, flat(done.checkpoints / "checkpoint-60"))
    lines = json.loads((done.checkpoints / "checkpoint-60" / "trainer_state.json").read_text())["log_history"]
    closeness = {line["step"]: line["eval_closeness"] for line in lines if "eval_closeness" in line}
    assert done.record["scores"]["closeness"] == max(closeness.values()) == closeness[best]
    assert done.record["threshold"] == pytest.approx(-closeness[best] / 2)
    assert json.loads((done.out / "config.json").read_text())["threshold"] == done.record["threshold"]


def test_the_best_checkpoint_is_kept_among_few(tiny: Train):
    done = tiny(steps=60, aim=0.2, learning_rate=0.05, keep=2)
    kept = {path.name for path in done.checkpoints.iterdir()}
    assert kept == {f"checkpoint-{done.record['best_step']}", "checkpoint-60"}


def test_without_a_better_validation_for_long_enough_training_stops(tiny: Train):
    settings = {"steps": 60, "aim": 0.2, "learning_rate": 0.05}
    best = tiny("all", **settings).record["best_step"]
    done = tiny(patience=1, **settings)  # an epoch is 10 steps
    assert (done.record["best_step"], done.record["steps"]) == (best, best + 10)


def test_killed_after_it_stopped_early_it_does_not_train_on(tiny: Train):
    settings = {"steps": 60, "aim": 0.2, "learning_rate": 0.05, "patience": 1}
    done = tiny(**settings)
    again = done.out.with_name("again")
    shutil.copytree(done.out / "training", again / "training")
    resumed = tiny("again", **settings)
    assert resumed.record["steps"] == done.record["steps"]
    assert torch.equal(resumed.weights, done.weights)


@pytest.mark.parametrize("checks_late", [False, True])  # as on a GPU
@pytest.mark.parametrize(("number", "last"), [(13, 10), (9, 5), (2, None)])
def test_a_loss_that_is_no_number_stops_the_run_and_the_last_good_state_stays(
    tiny: Train, tmp_path, monkeypatch, number, last, checks_late
):
    monkeypatch.setattr(RecipeTrainer, "_checks_late", checks_late)
    spoiling = tmp_path / "spoil"
    whole = tiny("whole", spoil=str(spoiling))
    spoiling.write_text(str(number))
    with pytest.raises(LongmatchError) as stopped:
        tiny("spoilt", spoil=str(spoiling))
    sentence = str(stopped.value)
    assert f"loss at step {number + 1} is nan" in sentence and "learning_rate below 0.01" in sentence
    checkpoints = tmp_path / "spoilt" / "training" / "checkpoints"
    assert (f"of step {last} remain in {checkpoints}/checkpoint-{last}." in sentence) == (last is not None)
    if last:
        assert TinyModel.from_pretrained(checkpoints / f"checkpoint-{last}").device.type == "cpu"
    assert not (tmp_path / "spoilt" / "longmatch.json").exists()
    spoiling.unlink()
    assert torch.allclose(tiny("spoilt", spoil=str(spoiling)).weights, whole.weights, rtol=0, atol=1e-5)


def test_a_finished_run_is_left_as_it_is(tiny: Train, capsys):
    before = whole_folder(tiny().out)
    capsys.readouterr()
    after = whole_folder(tiny().out)
    assert before == after
    assert re.sub(r"\s+", " ", capsys.readouterr().err) == (
        f"{tiny().out} is already trained; name another folder with --out to train again. "
    )


def test_another_setting_in_the_same_folder_is_an_error(tiny: Train):
    before = whole_folder(tiny(seed=1).out)
    with pytest.raises(LongmatchError, match=r"holds a training run with seed 1, not 2\. Name another folder"):
        tiny(seed=2)
    with pytest.raises(LongmatchError, match="with width 8, not 9"):
        tiny(seed=1, width=9)
    assert whole_folder(tiny(seed=1, workers=2).out) == before  # but not one that changes nothing


def test_a_run_that_could_not_start_leaves_its_folder_free(tmp_path):
    from longmatch.lab.training.train import train

    with pytest.raises(LongmatchError, match="does not exist"):
        train("first", tmp_path / "mistyped", tmp_path / "out")
    with pytest.raises(LongmatchError, match="does not exist"):  # not: holds a training run with other data
        train("first", tmp_path / "mistyped again", tmp_path / "out")


def test_a_folder_with_other_files_is_not_trained_into(tiny: Train, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    with pytest.raises(LongmatchError, match=r"holds other files"):
        tiny()
    (tmp_path / "file").write_text("mine")
    with pytest.raises(LongmatchError, match="is a file"):
        tiny("file")


def test_two_runs_do_not_share_a_folder_at_once(tiny: Train, tmp_path):
    (tmp_path / "out" / "training").mkdir(parents=True)
    with FileLock(tmp_path / "out" / "training" / "lock"), pytest.raises(LongmatchError, match="Another process is"):
        tiny()


def test_a_model_and_data_that_are_not_there_are_named(tmp_path, numbers):
    from longmatch.lab.training.train import train

    with pytest.raises(LongmatchError, match=r"There is no model berta to train\. Name one of sdr, colde, "):
        train("berta", numbers, tmp_path / "out")
    with pytest.raises(LongmatchError, match=r"There is no recipe tests\.nowhere:Recipe"):
        train("tests.nowhere:Recipe", numbers, tmp_path / "out")
    with pytest.raises(LongmatchError, match=r"none\.json is not there"):
        train(NAME, tmp_path / "none.json", tmp_path / "out")
    with pytest.raises(LongmatchError, match="There is no data"):
        train(NAME, [], tmp_path / "out")


def test_in_bfloat16_the_weights_still_learn_and_stay_float32(tiny: Train):
    plain = tiny("plain", steps=40, learning_rate=0.05)
    for cached in (False, True):
        half = tiny(f"half-{cached}", steps=40, learning_rate=0.05, precision="bfloat16", cached=cached)
        assert half.weights.dtype == torch.float32
        assert not torch.equal(half.weights, plain.weights)
        assert half.record["scores"]["error"] == pytest.approx(plain.record["scores"]["error"], rel=0.25)


def test_weights_that_no_step_improves_on_are_kept(tiny: Train, capsys):
    done = tiny(steps=20, aim=-1.0, keep=9)
    assert done.record["best_step"] == 0
    assert torch.equal(done.weights, flat(done.out / "training" / "untrained"))
    assert "Of the untrained weights: after none of 20 steps" in (done.out / "README.md").read_text(encoding="utf-8")
    assert "before training, which no step improved on" in re.sub(r"\s+", " ", capsys.readouterr().err)
    again = done.out.with_name("again")
    shutil.copytree(done.out / "training", again / "training")
    for later in (15, 20):
        shutil.rmtree(again / "training" / "checkpoints" / f"checkpoint-{later}")
    resumed = tiny("again", steps=20, aim=-1.0, keep=9)
    assert torch.equal(resumed.weights, done.weights) and resumed.record["scores"] == done.record["scores"]


def test_new_layers_learn_at_their_own_rate(tiny: Train):
    def moved(name, **settings):
        done = tiny(name, new_layer=True, schedule="constant", warmup=0, weight_decay=0, steps=2, **settings)
        places = done.out / "training" / "untrained", done.checkpoints / "checkpoint-2"
        before, after = (load_file(place / "model.safetensors") for place in places)
        return {name: float((after[name] - before[name]).abs().max()) for name in ("odd.bias", "layers.0.bias")}

    given = moved("given", learning_rate=1e-3, head_learning_rate=1e-2)
    assert given["layers.0.bias"] == pytest.approx(2e-3, rel=0.2) and given["odd.bias"] == pytest.approx(1e-2, rel=0.2)
    assert moved("factor", learning_rate=1e-3)["odd.bias"] == pytest.approx(20e-3, rel=0.2)


def test_a_preset_fills_in_what_is_not_given(tiny: Train):
    settings = tiny("paper", preset="paper", learning_rate=0.03).record["settings"]
    assert (settings["preset"], settings["width"], settings["learning_rate"]) == ("paper", 4, 0.03)
    with pytest.raises(LongmatchError, match=r"The model tiny has no preset papre\. Name one of paper\."):
        tiny("other", preset="papre")


def test_no_file_of_a_model_is_a_pickle(tiny: Train):
    assert not [path for path in tiny().out.rglob("*") if path.suffix in (".bin", ".pkl", ".pth")]
