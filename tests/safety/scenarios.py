"""The commands that are killed, each with the library and the files it works on."""

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.library.tiny import made_up_text, write_texts
from tests.safety.children import command, in_child

ROWS = "rows.jsonl"


@dataclass(frozen=True)
class Scenario:
    """A command, and the library it begins with: none, or a copy of `before`."""

    name: str
    words: Callable[[Path], Sequence[object]]  # of the command, for a library
    before: Path | None


def make_scenarios(place: Path) -> list[Scenario]:
    """Write the files below `place`, and index what the commands begin with."""
    new = write_files(place / "new", range(8), range(100, 106))
    changed = write_files(place / "changed", range(8), range(100, 106))
    done = in_child(command("index", place / "indexed", changed))
    assert done.status == 0, done.errors
    shutil.copytree(place / "indexed", place / "shrunk")
    for number in (2, 5):
        (changed / f"d{number:03}.txt").write_text(made_up_text(number + 300), encoding="utf-8")
    write_texts(changed, range(8, 11))
    write_rows(changed, [*range(103, 108)], change=3)
    gone = write_files(place / "gone", range(8), range(100, 106))
    done = in_child(command("index", place / "pruned", gone))
    assert done.status == 0, done.errors
    for number in (1, 4, 6):
        (gone / f"d{number:03}.txt").unlink()
    write_rows(gone, [101, 104])
    return [
        Scenario("index (new)", lambda library: ("index", library, new), None),
        Scenario("index (changed)", lambda library: ("index", library, changed), place / "indexed"),
        Scenario("index --prune", lambda library: ("index", library, gone, "--prune"), place / "pruned"),
        Scenario("remove", lambda library: ("remove", library, "d001.txt", "d006.txt", "r102"), place / "shrunk"),
        Scenario("index --reencode", lambda library: ("index", library, "--reencode"), place / "pruned"),
    ]


def write_files(folder: Path, numbers: range, rows: range) -> Path:
    """Text files, and a file of many documents."""
    write_texts(folder, numbers)
    write_rows(folder, list(rows))
    return folder


def write_rows(folder: Path, numbers: Sequence[int], change: int = 0) -> None:
    """The file of many documents; with `change`, every third has another text."""
    texts = {f"r{n}": made_up_text(n + change * (n % 3 == 0)) for n in numbers}
    write_documents(folder, texts)


def write_documents(folder: Path, texts: dict[str, str]) -> Path:
    """Documents by id: those of files, and those of rows."""
    folder.mkdir(exist_ok=True, parents=True)
    rows = [json.dumps({"id": id, "text": text}) for id, text in texts.items() if "." not in id]
    for id, text in texts.items():
        if "." in id:
            (folder / id).write_text(text, encoding="utf-8")
    if rows:
        (folder / ROWS).write_text("\n".join(rows), encoding="utf-8")
    return folder
