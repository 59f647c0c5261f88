"""Work for the queue's tests: it notes when it ran."""

import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Note:
    """Adds its name to a file; one called bad fails."""

    name: str
    file: Path

    def run(self, cores: int) -> None:
        with self.file.open("a") as file:
            file.write(f"{self.name}\n")
        print(f"{self.name} with {cores} cores")
        if self.name == "bad":
            raise ValueError("it is bad")


@dataclass(frozen=True)
class SharedMemory:
    """Fails for want of memory while more than `room` of its kind run; each is a file in a folder while it runs."""

    name: str
    folder: Path
    room: int

    def run(self, cores: int) -> None:
        mark = self.folder / self.name
        mark.touch()
        try:
            time.sleep(0.3)
            if len(list(self.folder.iterdir())) > self.room:
                raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB.")
            time.sleep(0.3)
        finally:
            mark.unlink()
