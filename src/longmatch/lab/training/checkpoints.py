"""A run's checkpoints. A run may be killed while it writes one, so a checkpoint can be incomplete."""

import json
import shutil
from pathlib import Path

STATE = "trainer_state.json"  # the Trainer writes it last


def checkpoint_path(folder: Path, step: int) -> Path:
    """Where the Trainer saves the state after a step."""
    return folder / f"checkpoint-{step}"


def last_checkpoint(folder: Path) -> Path | None:
    """The latest complete checkpoint."""
    return next((path for path in reversed(_all(folder)) if is_complete(path)), None)


def remove_incomplete(folder: Path) -> None:
    """Remove checkpoints that were being written when a run was killed."""
    for path in _all(folder):
        if not is_complete(path):
            shutil.rmtree(path)


def is_complete(path: Path) -> bool:
    """Whether a checkpoint was written to its end."""
    try:
        return bool(json.loads((path / STATE).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return False


def step_of(path: Path) -> int:
    """The step after which a checkpoint was written.

    >>> step_of(Path("checkpoints/checkpoint-300"))
    300
    """
    return int(path.name.rpartition("-")[2])


def _all(folder: Path) -> list[Path]:
    paths = [path for path in folder.glob("checkpoint-*") if path.name.rpartition("-")[2].isdigit()]
    return sorted(paths, key=step_of)
