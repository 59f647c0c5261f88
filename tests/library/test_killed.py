"""Indexing may be killed at any moment; and two processes may index at once."""

import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from longmatch.default.matcher import HybridMatcher
from longmatch.library.errors import NotALibrary
from longmatch.library.library import Library
from tests.forked import pipe, start
from tests.library.indexing_process import serve
from tests.library.tiny import made_up_text, write_texts

pytestmark = pytest.mark.slow


class Server:
    """The process that indexes."""

    def __init__(self, model: Path) -> None:
        self.pipe, theirs = pipe()
        self.process = start(serve, model, theirs)
        theirs.close()
        assert self.pipe.recv() == "ready"

    def send(self, library: Path, paths: list[Path], kill_after: float | None = None) -> None:
        self.pipe.send({"library": library, "paths": paths, "kill_after": kill_after})

    def receive(self) -> dict:
        return self.pipe.recv()

    def index(self, library: Path, paths: list[Path], kill_after: float | None = None) -> dict:
        self.send(library, paths, kill_after)
        return self.receive()

    def stop(self) -> None:
        self.pipe.close()
        self.process.join(30)


@pytest.fixture(scope="module")
def new_server(tiny_bert: Path) -> Iterator[Callable[[], Server]]:
    servers: list[Server] = []

    def new() -> Server:
        servers.append(Server(tiny_bert))
        return servers[-1]

    yield new
    for server in servers:
        server.stop()


def test_killed_at_a_dozen_moments_and_run_again_it_gives_what_one_run_gives(
    new_server: Callable[[], Server], tmp_path: Path
) -> None:
    server = new_server()
    folder = write_texts(tmp_path / "texts", range(4))
    rows = tmp_path / "texts" / "rows.jsonl"
    rows.write_text("\n".join(json.dumps({"id": f"r{n}", "text": made_up_text(n)}) for n in range(100, 106)))
    server.index(tmp_path / "before", [folder])
    (folder / "d002.txt").write_text(made_up_text(300))  # the second run adds, replaces and removes
    (folder / "d003.txt").unlink()
    rows.write_text("\n".join(json.dumps({"id": f"r{n}", "text": made_up_text(n + n % 3)}) for n in range(102, 109)))
    shutil.copytree(tmp_path / "before", tmp_path / "whole")
    whole = server.index(tmp_path / "whole", [folder])
    chance, latest, killed = random.Random(4), whole["seconds"], 0
    for number in range(60):
        if killed == 12:
            break
        fresh = number % 2 == 1  # half of them from nothing, half on the library of before
        place, moment = tmp_path / f"killed-{number}", chance.uniform(0.0, latest)
        if not fresh:
            shutil.copytree(tmp_path / "before", place)
        if "killed" in server.index(place, [folder], moment):
            killed += 1
        else:
            latest = moment  # all was done by then
        again = server.index(place, [folder])
        assert again["state"]["texts"] == whole["state"]["texts"], number
        assert again["state"]["ranked"] == whole["state"]["ranked"], number
        assert again["state"]["rows"] == len(whole["state"]["texts"]), number
        shutil.rmtree(place)
    assert killed == 12


def test_two_processes_that_index_at_once_both_succeed(new_server: Callable[[], Server], tmp_path: Path) -> None:
    first, second = new_server(), new_server()
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


def test_what_a_killed_process_had_begun_to_write_is_removed_by_the_next_writer(
    library: Library, texts: Path, opened: Callable[[], Library]
) -> None:
    library.add(texts)
    place = Path(library.address)
    names = [".checked.json.4711", ".checksums.json.4711", "index/.manifest.json.1", "index/.checked.json.1"]
    left = [place / name for name in (*names, "documents.lance/data/.tmp1x", "files.lance/_versions/.tmp2x")]
    for path in left:
        path.write_text("half")
    assert len(opened().rank("d001.txt", k=3)) == 3 and all(path.exists() for path in left)  # a reader removes nothing
    opened().remove("d007.txt")
    assert not any(path.exists() for path in left)
