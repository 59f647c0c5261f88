"""What the workers have finished, noted as it comes in, so that a run that was killed loses nothing of it."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from longmatch.distributed.fragments import Fragment, are_there, commit
from longmatch.library.store import Store
from longmatch.library.writer import Writer

NAME = "ray-journal.jsonl"


@dataclass(frozen=True)
class Finished:
    """Documents that are encoded and written, and files that are done with once all steps up to this one are."""

    step: int
    fragments: list[Fragment]
    ids: list[str]
    files: list[dict[str, Any]] = field(default_factory=list)


class Journal:
    """The steps finished since the last commit, on disk."""

    def __init__(self, path: Path, version: int) -> None:
        self.path = path
        self.finished: list[Finished] = []
        self._write({"version": version}, "w")

    def note(self, finished: Finished) -> None:
        """One more."""
        self.finished.append(finished)
        self._write(asdict(finished), "a")

    def _write(self, facts: dict[str, Any], mode: str) -> None:
        with self.path.open(mode, encoding="utf-8") as file:
            file.write(json.dumps(facts) + "\n")

    def drop(self) -> None:
        """All is in the library."""
        self.path.unlink(missing_ok=True)


def commit_all(writer: Writer, finished: Sequence[Finished], gone: Sequence[str]) -> None:
    """Put what the workers have written into the library and take documents away, in one commit; the index follows."""
    ids = [id for one in finished for id in one.ids]
    fragments = [fragment for one in finished for fragment in one.fragments]
    if not fragments and not gone:
        return
    held = set(writer.store.read(["id"])["id"].to_pylist())
    old = [id for id in [*ids, *gone] if id in held]
    writer.follow(lambda: commit(writer.store, fragments, old), old)


def recover(path: Path, writer: Writer) -> None:
    """Put what a killed run has finished into the library, if the library is still as that run found it."""
    version, finished = _read(path)
    if finished and version == writer.store.version and _are_whole(writer.store, finished):
        commit_all(writer, finished, ())
        writer.store.put_files([file for one in _without_gaps(finished) for file in one.files])
    path.unlink(missing_ok=True)


def _read(path: Path) -> tuple[int, list[Finished]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        version = int(json.loads(lines[0])["version"])
    except (OSError, ValueError, IndexError, KeyError):
        return -1, []
    finished = []
    for line in lines[1:]:
        try:
            finished.append(Finished(**json.loads(line)))
        except (ValueError, TypeError):
            break  # cut off when the run was killed
    return version, finished


def _are_whole(store: Store, finished: Sequence[Finished]) -> bool:
    return are_there(store, [fragment for one in finished for fragment in one.fragments])


def _without_gaps(finished: Sequence[Finished]) -> list[Finished]:
    """The steps before the first that was not finished: a file may have documents in several."""
    in_order = sorted(finished, key=lambda one: one.step)
    return [one for place, one in enumerate(in_order) if one.step == place]
