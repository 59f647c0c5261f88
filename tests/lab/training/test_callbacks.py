"""How long a run is and when it stops."""

import os
import pty
import re
import sys
from pathlib import Path
from select import select

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from transformers import TrainerState

from longmatch.errors import LongmatchError
from longmatch.lab.training.callbacks import SELECTION_METRIC, RunSchedule, ScheduleCallback
from longmatch.lab.training.settings import TrainingSettings
from tests.forked import longmatch, start
from tests.lab.training.conftest import Train
from tests.lab.training.test_killed import command


def schedule(batches=10, processes=1, **settings):
    return RunSchedule.of(TrainingSettings(**settings), batches, processes)


def test_epochs_become_steps_of_all_processes_batches():
    assert schedule(epochs=3).steps == 30
    assert schedule(epochs=3, accumulate=4).steps == 8
    assert schedule(epochs=1, accumulate=2, processes=3).steps == 2
    assert schedule(epochs=0.01).steps == 1


def test_steps_go_before_epochs():
    assert schedule(epochs=3, steps=7).steps == 7


def test_an_epoch_is_validated_at_its_end_unless_told_otherwise():
    assert schedule(accumulate=3).validate_every == 4
    assert schedule(validate_every=2).validate_every == 2
    assert schedule(steps=5).validate_every == 5
    assert schedule(validate_every=4, save_every=2).save_every == 2


@pytest.mark.parametrize(
    ("found", "stale"), [([], False), ([1, 2, 3], False), ([3, 2], False), ([3, 2, 1], True), ([3, 3, 3], True)]
)
def test_a_run_is_stale_when_nothing_got_better_for_as_many_epochs_as_its_patience(found, stale):
    state = TrainerState(log_history=[{SELECTION_METRIC: value, "step": 10 * n} for n, value in enumerate(found)])
    assert ScheduleCallback(schedule(patience=2)).is_stale(state) == stale
    assert not ScheduleCallback(schedule()).is_stale(state)


def test_patience_counts_epochs_however_often_they_are_validated():
    assert schedule(patience=2, validate_every=1).patience == 20
    assert schedule(patience=0.5, accumulate=2).patience == 3


def test_in_a_file_there_are_a_few_lines_and_no_noise(tiny: Train, capfd):
    out = tiny().out
    shown = capfd.readouterr()
    assert shown.out == ""
    patterns = [
        r"Training tests\.lab\.training\.tiny_recipe:TinyRecipe on cpu: 20 steps\.",
        r"Step 0 of 20: on validation closeness -\d+\.\d+, .*\.",
        *(rf"Step {step} of 20: loss \d+\.\d+; on validation closeness -\d+\.\d+, .*\." for step in (5, 10, 15, 20)),
        rf"{re.escape(str(out))} is trained: closeness -\d+\.\d+ at step 20\.",
    ]
    lines = shown.err.splitlines()
    assert len(lines) == len(patterns)
    assert all(re.fullmatch(pattern, line) for pattern, line in zip(patterns, lines, strict=True)), shown.err


def test_in_a_terminal_a_line_shows_step_loss_speed_and_time_left(tmp_path, numbers):
    ours, theirs = pty.openpty()
    terminal = Path(os.ttyname(theirs))
    size = {"COLUMNS": "120", "LINES": "30", "TERM": "xterm"}
    words = command(numbers, tmp_path / "out", {"pause": 0.1})
    process, shown = start(longmatch, *words, out=terminal, err=terminal, environment=size), b""
    while process.is_alive() or select([ours], [], [], 0)[0]:
        if select([ours], [], [], 0.1)[0]:
            shown += os.read(ours, 65536)
    os.close(theirs)
    os.close(ours)
    assert process.exitcode == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    assert re.search(r"step \d+ of 20 \S+ loss \d+\.\d{4}, [\d,]+ tokens/s, \d+:\d\d:\d\d left", text), text
    for noise in ("it/s", "Warning", "warn", "{'loss'", "train_runtime", "Traceback"):
        assert noise not in text


def test_tensorboard_has_a_curve_for_each_loss_and_measure(tiny: Train):
    logs = tiny().out / "training" / "logs"
    found = EventAccumulator(str(logs)).Reload()
    curves = set(found.Tags()["scalars"])
    assert {"loss", "root", "learning_rate", "tokens_a_second", "validation/closeness"} <= curves
    assert [point.step for point in found.Scalars("validation/closeness")] == [0, 5, 10, 15, 20]


def test_training_works_without_tensorboard(tiny: Train, monkeypatch):
    monkeypatch.setattr("longmatch.lab.training.callbacks.find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)  # an import would fail
    assert not (tiny().out / "training" / "logs").exists()


def test_without_accelerate_one_sentence_says_how_to_get_it(tiny: Train, monkeypatch):
    monkeypatch.setattr("longmatch.lab.training.train.find_spec", lambda name: None)
    with pytest.raises(LongmatchError, match=r"pip install 'longmatch\[train\]'\.$"):
        tiny()
