"""Work for the queue's test: it notes when it ran."""

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
