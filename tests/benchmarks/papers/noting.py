"""Work for the queue's tests: it notes when it ran."""

import time
from pathlib import Path

import torch


def note(name: str, file: Path) -> None:
    """Add the name to a file; work called bad fails."""
    with file.open("a") as opened:
        opened.write(f"{name}\n")
    print(f"{name} with {torch.get_num_threads()} cores")
    if name == "bad":
        raise ValueError("it is bad")


def share_memory(name: str, folder: Path, room: int) -> None:
    """Fail for want of memory while more than `room` of its kind run; each is a file in a folder while it runs."""
    mark = folder / name
    mark.touch()
    try:
        time.sleep(0.3)
        if len(list(folder.iterdir())) > room:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        time.sleep(0.3)
    finally:
        mark.unlink()
