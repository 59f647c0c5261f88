"""A library in object storage: an S3-compatible server on this machine, started for the test."""

import logging
import shutil
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from moto.server import ThreadedMotoServer

from longmatch.default.matcher import HybridMatcher
from longmatch.documents.read import read
from longmatch.errors import LongmatchError
from longmatch.library.library import Library
from longmatch.library.rows import to_table
from longmatch.library.settings import LibrarySettings
from tests.library.tiny import made_up_text, write_texts

ADDRESS = "s3://shelf/papers"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Where it listens."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    started = ThreadedMotoServer(port=0)
    started.start()
    yield f"http://127.0.0.1:{started.get_host_and_port()[1]}"
    started.stop()


@pytest.fixture
def storage(server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty bucket, and an environment that says where it is; what is derived lies in a cache of the test's own."""
    urlopen(Request(f"{server}/moto-api/reset", method="POST"))
    urlopen(Request(f"{server}/shelf", method="PUT"))
    said = {"AWS_ENDPOINT": server, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1"}
    for name, value in (said | {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def answers(library: Library) -> list[tuple[str, list[tuple[str, float]]]]:
    return [(id, [(hit.id, round(hit.score, 5)) for hit in library.rank(id, k=4)]) for id in library]


@pytest.mark.usefixtures("storage")
def test_indexing_changing_removing_and_ranking_work_as_in_a_folder(
    tiny: HybridMatcher, texts: Path, library: Library
) -> None:
    far = Library(ADDRESS, tiny)
    for one in (far, library):
        one.add(texts)
    write_texts(texts, range(6, 12), salt=1)
    (texts / "d000.txt").unlink()
    done = [one.add(texts, prune=True).to_dict() for one in (far, library)]
    assert done[0] == done[1] and done[0]["replaced"] and done[0]["removed"]
    for one in (far, library):
        one.remove("d003.txt")
    opened = Library(ADDRESS, tiny, create=False)
    assert answers(opened) == answers(library)
    assert opened.show("d007.txt").text == (texts / "d007.txt").read_text()
    word = made_up_text(1).split()[1]
    assert [d.id for d in opened.find(word)] == [d.id for d in library.find(word)]


@pytest.mark.usefixtures("storage")
def test_a_machine_that_has_nothing_of_it_yet_gets_the_same_answers(
    tiny: HybridMatcher, texts: Path, tmp_path: Path
) -> None:
    first = Library(ADDRESS, tiny)
    first.add(texts)
    before = answers(first)
    shutil.rmtree(tmp_path / "cache")
    assert answers(Library(ADDRESS, tiny, create=False)) == before


@pytest.mark.usefixtures("storage")
def test_two_machines_may_add_at_once(tiny: HybridMatcher, tmp_path: Path) -> None:
    Library(ADDRESS, tiny).add(write_texts(tmp_path / "start", range(3)))
    machines = []
    for number in range(2):
        settings = LibrarySettings(index_folder=tmp_path / f"machine-{number}")
        library = Library(ADDRESS, tiny, create=False, settings=settings)
        texts = write_texts(tmp_path / f"texts-{number}", range(100 * (number + 1), 100 * (number + 1) + 12))
        machines.append(threading.Thread(target=partial(library.add, texts)))
    for machine in machines:
        machine.start()
    for machine in machines:
        machine.join()
    opened = Library(ADDRESS, tiny, create=False)
    assert len(opened) == 27
    assert len(opened.rank("d100.txt", k=30)) == 26


@pytest.mark.usefixtures("storage")
def test_a_machine_finds_what_another_has_added_while_it_wrote(tiny: HybridMatcher, tmp_path: Path) -> None:
    places = (tmp_path / "here", tmp_path / "there")
    here, there = (Library(ADDRESS, tiny, settings=LibrarySettings(index_folder=place)) for place in places)
    here.add(write_texts(tmp_path / "start", range(3)))
    with here.writer() as writer:
        there.add(write_texts(tmp_path / "theirs", range(100, 103)))
        writer.put(to_table(tiny.encode([read(write_texts(tmp_path / "ours", range(200, 201)) / "d200.txt")])))
        writer.finish()
    assert {hit.id for hit in here.rank("d000.txt", k=9)} == set(here) - {"d000.txt"}


@pytest.mark.usefixtures("storage")
def test_parts_written_by_workers_are_committed_there_too(tiny: HybridMatcher, texts: Path, library: Library) -> None:
    from longmatch.distributed.indexing import DocumentToEncode, EncodeWorker, FinishedStep, commit_all

    far = Library(ADDRESS, tiny)
    for one in (far, library):
        one.add([texts / "d000.txt", texts / "d001.txt"])
    write_texts(texts, range(1, 2), salt=1)
    encoder = EncodeWorker(ADDRESS, lambda: tiny, 1)
    encoder.ready()
    documents = [read(file) for file in sorted(texts.iterdir())[1:]]
    picked = [DocumentToEncode(place, document.id, document.source) for place, document in enumerate(documents)]
    fragments, _ = encoder.encode([picked], documents)
    assert len(far) == 2  # not to be seen yet
    with far.writer() as writer:
        commit_all(writer, [FinishedStep(0, fragments, [one.id for one in picked])], ())
    library.add(texts)
    assert answers(far) == answers(library)


@pytest.mark.usefixtures("storage")
@pytest.mark.parametrize("ask", [lambda path: Library(path, create=False), lambda path: Library(path).add("x.txt")])
def test_a_bucket_that_is_not_there_is_said_in_one_sentence(ask: Callable[[str], object]) -> None:
    with pytest.raises(LongmatchError, match=r"^s3://missing/papers cannot be reached\.") as error:
        ask("s3://missing/papers")
    assert "\n" not in str(error.value) and "AWS_ENDPOINT" in str(error.value)
