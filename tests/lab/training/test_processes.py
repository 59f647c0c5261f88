"""Several processes share a run, as torchrun starts them."""

import os
import random
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from tests.forked import start
from tests.lab.training.conftest import Train
from tests.lab.training.tiny_recipe import NAME

from . import train_process

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]


def free_port() -> int:
    """One that no connection takes by chance before it is listened on: those the system gives out lie above."""
    for port in random.sample(range(20_000, 30_000), 100):
        with socket.socket() as tried, suppress(OSError):
            tried.bind(("127.0.0.1", port))
            return port
    raise OSError("a hundred ports are taken")


def run_two(tmp_path: Path, numbers: Path, spoil: str = "") -> list[tuple[int, str]]:
    """Exit code and words of each of two processes."""
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    said = [tmp_path / f"said-{rank}" for rank in range(2)]
    processes = [
        start(
            train_process.main,
            *(NAME, str(numbers), str(tmp_path / "two"), str(tmp_path / f"own-{rank}"), spoil),
            err=said[rank],
            environment=shared | {"RANK": str(rank), "LOCAL_RANK": str(rank)},
        )
        for rank in range(2)
    ]
    for process in processes:
        process.join(180)
    return [(process.exitcode, words.read_text()) for process, words in zip(processes, said, strict=True)]


def test_two_processes_end_with_the_weights_of_one_that_takes_the_mean_of_both(tiny: Train, tmp_path, numbers):
    (code, said), (other, silent) = run_two(tmp_path, numbers)
    assert code == 0 and "in 2 processes: 20 steps" in said, said
    assert other == 0 and "tep" not in silent and "trained" not in silent, silent  # the first speaks for both
    one = load_file(tiny("one", steps=20, cached=True, accumulate=2).out / "model.safetensors")
    two = [load_file(path) for path in (tmp_path / "own-0", tmp_path / "own-1", tmp_path / "two/model.safetensors")]
    for name, weights in one.items():
        assert all(torch.equal(two[0][name], other[name]) for other in two[1:])
        assert torch.allclose(two[0][name], weights, rtol=0, atol=1e-5)


def test_two_machines_that_torchrun_joins_end_with_the_same_weights(tmp_path, numbers):
    launch = [sys.executable, "-m", "torch.distributed.run", "--nnodes", "2", "--nproc-per-node", "1"]
    launch += ["--master-addr", "127.0.0.1", "--master-port", str(free_port())]
    work = ["-m", "tests.lab.training.train_process", NAME, str(numbers), str(tmp_path / "two")]
    machines = [
        subprocess.Popen(
            [*launch, "--node-rank", str(rank), *work, str(tmp_path / f"own-{rank}"), ""],
            cwd=ROOT,
            env=os.environ | {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"},
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    said = [machine.communicate(timeout=240)[1] for machine in machines]
    assert [machine.returncode for machine in machines] == [0, 0], said
    first, second, kept = (
        load_file(path) for path in (tmp_path / "own-0", tmp_path / "own-1", tmp_path / "two/model.safetensors")
    )
    for name, weights in first.items():
        assert torch.equal(weights, second[name]) and torch.equal(weights, kept[name])


def test_a_loss_that_is_no_number_in_one_process_stops_both(tmp_path, numbers):
    (tmp_path / "spoil").write_text("13")  # the second process's batch of step 7
    for code, said in run_two(tmp_path, numbers, str(tmp_path / "spoil")):
        assert code == 1 and "loss at step 7 is nan" in said and "Traceback" not in said, said
