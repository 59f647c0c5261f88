"""Runs of the tiny recipe."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from longmatch.lab.training.train import train
from tests.lab.training.tiny_recipe import NAME

Train = Callable[..., "Trained"]


@dataclass(frozen=True)
class Trained:
    """What a run left."""

    out: Path

    @property
    def record(self) -> dict[str, Any]:
        return json.loads((self.out / "longmatch.json").read_text(encoding="utf-8"))

    @property
    def weights(self) -> torch.Tensor:
        return flat(self.out)

    @property
    def checkpoints(self) -> Path:
        return self.out / "training" / "checkpoints"


def flat(folder: Path) -> torch.Tensor:
    """All weights of a saved model in one row."""
    found = load_file(folder / "model.safetensors")
    return torch.cat([found[name].flatten() for name in sorted(found)])


@pytest.fixture
def numbers(tmp_path: Path) -> Path:
    """What the tiny recipe learns from."""
    path = tmp_path / "numbers.json"
    path.write_text("[1.0, -2.0, 0.5, 3.0]")
    return path


@pytest.fixture
def tiny(tmp_path: Path, numbers: Path) -> Train:
    """Train the tiny recipe into a folder of that name."""

    def run(name: str = "out", **settings: Any) -> Trained:
        return Trained(train(NAME, numbers, tmp_path / name, **settings))

    return run
