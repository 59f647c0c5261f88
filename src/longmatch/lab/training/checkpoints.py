"""The states of a run that can be gone on from. A run may be killed while it writes one."""

import json
import shutil
from pathlib import Path

STATE = "trainer_state.json"  # the Trainer writes it last


def checkpoint_of(folder: Path, step: int) -> Path:
    """Where the Trainer keeps the state after a step."""
    return folder / f"checkpoint-{step}"


def last_checkpoint(folder: Path) -> Path | None:
    """The latest that was written whole."""
    return next((path for path in reversed(_all(folder)) if is_whole(path)), None)


def remove_partial(folder: Path) -> None:
    """Remove what was being written when a run was killed."""
    for path in _all(folder):
        if not is_whole(path):
            shutil.rmtree(path)


def is_whole(path: Path) -> bool:
    """Whether all of a checkpoint was written."""
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
    found = [path for path in folder.glob("checkpoint-*") if path.name.rpartition("-")[2].isdigit()]
    return sorted(found, key=step_of)
