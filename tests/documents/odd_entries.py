"""Entries of a folder that are no regular files, each with what the one sentence about it says."""

import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROBLEMS = {
    "pipe.txt": "is a named pipe, not a regular file",
    "pipe.xml": "is a named pipe, not a regular file",
    "pipe.zip": "is a named pipe, not a regular file",
    "zero.txt": "is a device, not a regular file",
    "loop.txt": "is a link that leads nowhere",
    "broken.md": "is a link that leads nowhere",
    "socket.eml": "is a socket, not a regular file",
    "huge.txt": "is larger than 100 MB, the most that is read of this format",
}


def write_odd_entries(folder: Path) -> None:
    """Put one of each into a folder."""
    for name in ("pipe.txt", "pipe.xml", "pipe.zip"):
        os.mkfifo(folder / name)
    (folder / "zero.txt").symlink_to("/dev/zero")
    (folder / "loop.txt").symlink_to("loop.txt")
    (folder / "broken.md").symlink_to("missing.md")
    here = Path.cwd()
    os.chdir(folder)  # the address of a socket may not be long
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.eml")
    os.chdir(here)
    with (folder / "huge.txt").open("wb") as file:
        file.truncate(2_000_000_000)


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Fail where the block takes longer, as what waits for a pipe does for ever."""

    def ring(*_: object) -> None:
        raise TimeoutError(f"not done after {seconds} seconds")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
