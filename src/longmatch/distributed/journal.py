"""The journal of finished steps, so that a killed run loses none of its workers' results."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from longmatch.distributed.fragments import Fragment, are_readable, commit
from longmatch.library.writer import Writer

JOURNAL = "ray-journal.jsonl"


@dataclass(frozen=True)
class FinishedStep:
    """Documents encoded and written, and the files that are complete once all steps up to this one are."""

    step: int
    fragments: list[Fragment]
    ids: list[str]
    files: list[dict[str, Any]] = field(default_factory=list)


class Journal:
    """The steps finished since the last commit, on disk as JSON Lines."""

    def __init__(self, path: Path, version: int) -> None:
        self.path = path
        self.finished: list[FinishedStep] = []
        self._write({"version": version}, "w")

    def append(self, step: FinishedStep) -> None:
        """Add a finished step."""
        self.finished.append(step)
        self._write(asdict(step), "a")

    def _write(self, record: dict[str, Any], mode: str) -> None:
        with self.path.open(mode, encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def delete(self) -> None:
        """Remove the file, once everything is in the library."""
        self.path.unlink(missing_ok=True)


def commit_all(writer: Writer, steps: Sequence[FinishedStep], removed: Sequence[str]) -> None:
    """Add what the workers wrote and remove documents (ids), in one commit; then update the index."""
    ids = [id for step in steps for id in step.ids]
    fragments = [fragment for step in steps for fragment in step.fragments]
    if not fragments and not removed:
        return
    existing = set(writer.store.read(["id"])["id"].to_pylist())
    old = [id for id in [*ids, *removed] if id in existing]
    writer.follow(lambda: commit(writer.store, fragments, old), old)


def recover(path: Path, writer: Writer) -> None:
    """Commit the finished steps of a killed run, if the library has not changed since."""
    version, steps = _read(path)
    fragments = [fragment for step in steps for fragment in step.fragments]
    if steps and version == writer.store.version and are_readable(writer.store, fragments):
        commit_all(writer, steps, ())
        writer.store.put_files([file for step in _without_gaps(steps) for file in step.files])
    path.unlink(missing_ok=True)


def _read(path: Path) -> tuple[int, list[FinishedStep]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        version = int(json.loads(lines[0])["version"])
    except (OSError, ValueError, IndexError, KeyError):
        return -1, []
    steps = []
    for line in lines[1:]:
        try:
            steps.append(FinishedStep(**json.loads(line)))
        except (ValueError, TypeError):
            break  # cut off when the run was killed
    return version, steps


def _without_gaps(steps: Sequence[FinishedStep]) -> list[FinishedStep]:
    """The steps before the first unfinished one, as the documents of a file may be in several steps."""
    ordered = sorted(steps, key=lambda step: step.step)
    return [step for number, step in enumerate(ordered) if step.step == number]
