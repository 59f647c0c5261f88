"""Training may be killed at any moment; the same command goes on, and ends as one that was never stopped."""

import os
import random
import signal
import time
from pathlib import Path

import pytest
import torch

from tests.forked import longmatch, start
from tests.lab.training.conftest import Train
from tests.lab.training.tiny_recipe import NAME

pytestmark = pytest.mark.slow


def command(numbers: Path, out: Path, settings: dict) -> list[object]:
    words: list[object] = ["train", NAME, "--data", numbers, "--out", out]
    for key, value in settings.items():
        words += ["--set", f"{key}={value}"]
    return words


def kill_after(checkpoint: Path, seconds: float, words: list[object]) -> None:
    """Run until the checkpoint is begun and a while longer, then end the process at once."""
    process = start(longmatch, *words)
    until = time.monotonic() + 120
    while not checkpoint.exists():
        assert process.is_alive() and time.monotonic() < until, "the run ended before it could be killed"
        time.sleep(0.002)
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGKILL)
    process.join()


@pytest.mark.parametrize(
    "settings",
    [
        {"steps": 60, "save_every": 4, "pause": 0.06},
        {
            "steps": 60,
            "save_every": 4,
            "accumulate": 2,
            "schedule": "cosine",
            "warmup": 0.3,
            "workers": 2,
            "pause": 0.06,
        },
    ],
)
def test_killed_twice_and_run_again_it_ends_at_the_same_loss_and_weights(tiny: Train, tmp_path, numbers, settings):
    whole = tiny("whole", **settings)
    chance = random.Random(5)
    out = tmp_path / "killed"
    for step in (8, 32):
        checkpoint = out / "training" / "checkpoints" / f"checkpoint-{step}"
        kill_after(checkpoint, chance.uniform(0.0, 0.3), command(numbers, out, settings))
        assert not (out / "longmatch.json").exists()
    again = tiny("killed", **settings)
    assert torch.allclose(again.weights, whole.weights, rtol=0, atol=1e-5)
    assert again.record["loss"] == pytest.approx(whole.record["loss"], abs=1e-5)
    assert again.record["scores"] == pytest.approx(whole.record["scores"], abs=1e-5)
