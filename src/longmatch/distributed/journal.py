"""The journal of finished steps, so that a killed run loses none of its workers' results."""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from longmatch.library.checksums import storage_errors
from longmatch.library.store import DOCUMENTS, Store, sql_in
from longmatch.library.writer import Writer

Fragment = str  # JSON, as Lance describes a fragment
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
    version, steps = -1, []
    with suppress(OSError, ValueError, KeyError, TypeError):  # no journal, or one cut off when the run was killed
        first, *lines = path.read_text(encoding="utf-8").splitlines()
        version = int(json.loads(first)["version"])
        for line in lines:
            steps.append(FinishedStep(**json.loads(line)))
    fragments = [fragment for step in steps for fragment in step.fragments]
    if steps and version == writer.store.version and are_readable(writer.store, fragments):
        commit_all(writer, steps, ())
        # of the steps before the first unfinished one, as the documents of a file may be in several
        ordered = sorted(steps, key=lambda step: step.step)
        complete = [step for number, step in enumerate(ordered) if step.step == number]
        writer.store.put_files([file for step in complete for file in step.files])
    path.unlink(missing_ok=True)


def write_fragments(address: str, rows: pa.Table) -> list[Fragment]:
    """Write rows into the library's store; they stay invisible until they are committed."""
    import lance
    from lance.fragment import write_fragments as write

    with storage_errors(address):
        known = lance.dataset(_dataset_address(address)).schema.names  # an older library may lack some columns
        rows = rows.select([name for name in rows.column_names if name in known])
        return [json.dumps(fragment.to_json()) for fragment in write(rows, _dataset_address(address), mode="append")]


def commit(store: Store, fragments: Sequence[Fragment], removed: Sequence[str]) -> None:
    """Add fragments to the library and remove documents (ids), in one commit."""
    import lance

    with storage_errors(store.address):
        dataset = lance.dataset(_dataset_address(store.address), version=store.version)
        new = [lance.FragmentMetadata.from_json(fragment) for fragment in fragments]
        changed, emptied = [], []  # fragments that lose some documents, and the ids of those that lose all
        for fragment in dataset.get_fragments() if removed else ():
            remaining = fragment.delete(sql_in("id", removed))
            if remaining is None:
                emptied.append(fragment.fragment_id)
            elif remaining.deletion_file != fragment.metadata.deletion_file:
                changed.append(remaining)
        operation = lance.LanceOperation.Update(
            removed_fragment_ids=emptied, updated_fragments=changed, new_fragments=new
        )
        lance.LanceDataset.commit(_dataset_address(store.address), operation, read_version=store.version)
    store.refresh()


def are_readable(store: Store, fragments: Sequence[Fragment]) -> bool:
    """Whether the files of fragments still exist and are intact."""
    import lance
    from lance.file import LanceFileReader

    try:
        for fragment in fragments:
            metadata = lance.FragmentMetadata.from_json(fragment)
            for file in metadata.files:
                LanceFileReader(f"{_dataset_address(store.address)}/data/{file.path}").num_rows()
    except (OSError, ValueError):
        return False
    return True


def _dataset_address(address: str) -> str:
    return f"{address.rstrip('/')}/{DOCUMENTS}.lance"
