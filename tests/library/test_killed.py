"""Indexing may be killed at any moment; and two processes may index at once."""

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from longmatch.library.errors import NotALibrary
from longmatch.library.library import Library
from longmatch.models.hybrid.model import HybridMatcher

from .tiny import made_up_text, write_texts

ROOT = Path(__file__).parents[2]


class Server:
    """The process that indexes."""

    def __init__(self, model: Path) -> None:
        environment = os.environ | {"PYTHONHASHSEED": "0", "OMP_WAIT_POLICY": "PASSIVE"}
        command = [sys.executable, "-m", "tests.library.indexing_process", str(model)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, env=environment, text=True)
        assert self._answer() == "ready"

    def _answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def send(self, library: Path, paths: list[Path], kill_after: float | None = None) -> None:
        assert self.process.stdin is not None
        job = {"library": str(library), "paths": list(map(str, paths)), "kill_after": kill_after}
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()

    def receive(self) -> dict:
        return json.loads(self._answer())

    def index(self, library: Path, paths: list[Path], kill_after: float | None = None) -> dict:
        self.send(library, paths, kill_after)
        return self.receive()

    def stop(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=30)


@pytest.fixture(scope="module")
def start(tiny_bert: Path) -> Iterator[Callable[[], Server]]:
    servers: list[Server] = []

    def new() -> Server:
        servers.append(Server(tiny_bert))
        return servers[-1]

    yield new
    for server in servers:
        server.stop()


def test_killed_at_twenty_moments_and_run_again_it_gives_what_one_run_gives(
    start: Callable[[], Server], tmp_path: Path
) -> None:
    server = start()
    folder = write_texts(tmp_path / "texts", range(4))
    rows = tmp_path / "texts" / "rows.jsonl"
    rows.write_text("\n".join(json.dumps({"id": f"r{n}", "text": made_up_text(n)}) for n in range(100, 112)))
    server.index(tmp_path / "before", [folder])
    (folder / "d002.txt").write_text(made_up_text(300))  # the second run adds, replaces and removes
    (folder / "d003.txt").unlink()
    rows.write_text("\n".join(json.dumps({"id": f"r{n}", "text": made_up_text(n + n % 3)}) for n in range(104, 118)))
    shutil.copytree(tmp_path / "before", tmp_path / "whole")
    whole = server.index(tmp_path / "whole", [folder])
    chance = random.Random(4)
    killed = 0
    for number in range(20):
        fresh = number % 2 == 1  # half of them from nothing, half on the library of before
        place = tmp_path / f"killed-{number}"
        if not fresh:
            shutil.copytree(tmp_path / "before", place)
        killed += "killed" in server.index(place, [folder], chance.uniform(0.0, whole["seconds"]))
        again = server.index(place, [folder])
        assert again["state"]["texts"] == whole["state"]["texts"], number
        assert again["state"]["ranked"] == whole["state"]["ranked"], number
        assert again["state"]["rows"] == len(whole["state"]["texts"]), number
        shutil.rmtree(place)
    assert killed >= 12


def test_two_processes_that_index_at_once_both_succeed(start: Callable[[], Server], tmp_path: Path) -> None:
    first, second = start(), start()
    left, right = write_texts(tmp_path / "left", range(15)), write_texts(tmp_path / "right", range(20, 35))
    first.send(tmp_path / "library", [left])
    second.send(tmp_path / "library", [right])
    answers = [first.receive(), second.receive()]
    assert sorted(len(answer["added"]) for answer in answers) == [15, 15]
    both = first.index(tmp_path / "library", [left, right])
    assert (both["unchanged"], both["state"]["rows"]) == (30, 30)
    alone = second.index(tmp_path / "alone", [left, right])
    assert both["state"] == alone["state"]


@pytest.mark.parametrize("left", ["files", "documents"])
def test_a_library_whose_making_was_killed_is_not_there_yet_and_is_made_by_the_next_run(
    tiny: HybridMatcher, texts: Path, tmp_path: Path, left: str
) -> None:
    for part in ("data", "_transactions", "_versions"):
        (tmp_path / "library" / f"{left}.lance" / part).mkdir(parents=True)
    with pytest.raises(NotALibrary, match="is not a library"):
        Library(tmp_path / "library", tiny, create=False)
    library = Library(tmp_path / "library", tiny)
    assert len(library.add([texts]).added) == 8
    assert library.add([texts]).unchanged == 8
