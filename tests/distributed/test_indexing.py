"""Indexing on a cluster of two machines gives the library that one machine makes."""

import json
import os
import shutil
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from longmatch.default.matcher import HybridMatcher
from longmatch.distributed.cluster import WorkerResources
from longmatch.distributed.indexing import (
    JOURNAL,
    DocumentToEncode,
    EncodeWorker,
    FinishedStep,
    Journal,
    RayBackend,
    recover,
)
from longmatch.documents.read import read
from longmatch.errors import LongmatchError
from longmatch.library.errors import LibraryError
from longmatch.library.indexing import IndexingProgress
from longmatch.library.library import Library
from tests.distributed.comparing import assert_equal, make_and_note
from tests.library.tiny import made_up_text, tiny_matcher, write_texts

Make = Callable[[], HybridMatcher]


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """Files, JSON Lines files with an id that both have, and two that cannot be read, one of them in part."""
    folder = write_texts(tmp_path / "documents", range(60))
    (folder / "empty.md").write_text("")
    rows = [{"id": f"r{n}", "text": made_up_text(n), "year": 2000 + n} for n in range(100, 180)]
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, [*rows, {"nothing": 1}])))
    (folder / "more.jsonl").write_text(json.dumps({"id": "r100", "text": made_up_text(999)}))
    return folder


@pytest.mark.slow
def test_a_worker_dies_the_run_is_stopped_goes_on_and_a_machine_dies_and_all_is_as_on_one_machine(
    cluster: Any, documents: Path, tmp_path: Path, tiny_bert: Path, matcher: HybridMatcher
) -> None:
    ours, theirs = Library(tmp_path / "cluster", matcher), Library(tmp_path / "here", matcher)
    notes = tmp_path / "notes"
    notes.mkdir()
    backend = RayBackend(make_matcher=partial(make_and_note, tiny_bert, notes), step_documents=4)
    killed: list[Path] = []

    def kill_then_stop(standing: IndexingProgress) -> None:
        if standing.documents >= 8 and not killed:
            killed.append(next(notes.iterdir()))
            os.kill(int(killed[0].name), signal.SIGKILL)
        if standing.documents >= 60:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ours.add(documents, progress=kill_then_stop, backend=backend)
    assert killed and len(ours) == 0
    with (tmp_path / "cluster" / JOURNAL).open("a") as journal:
        journal.write('{"step": 15, "fragm')  # the process was killed while it wrote

    lost = [cluster.list_all_nodes()[-1]]

    def lose_a_machine(standing: IndexingProgress) -> None:
        if standing.documents >= 20 and lost:
            cluster.remove_node(lost.pop(), allow_graceful=False)

    done = ours.add(documents, progress=lose_a_machine, backend=backend)
    cluster.add_node(num_cpus=1, object_store_memory=100_000_000)
    assert not lost and len(done.added) <= 141 - 60
    theirs.add(documents)
    assert len(ours) == 141
    assert_equal(ours, theirs)
    assert not (tmp_path / "cluster" / JOURNAL).exists()


@pytest.mark.slow
def test_changed_and_vanished_documents_are_replaced_and_removed_in_one_commit(
    cluster: Any, documents: Path, tmp_path: Path, make: Make, matcher: HybridMatcher
) -> None:
    theirs = Library(tmp_path / "here", matcher)
    theirs.add(documents)
    shutil.copytree(theirs.address, tmp_path / "cluster")
    ours = Library(tmp_path / "cluster", matcher)
    write_texts(documents, range(5), salt=1)
    (documents / "d006.txt").unlink()
    rows = [{"id": f"r{n}", "text": made_up_text(n + n % 2)} for n in range(105, 190)]
    (documents / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    before = list(ours)
    seen: list[list[str]] = []
    done = ours.add(
        documents,
        True,
        lambda _: seen.append(list(ours)),
        RayBackend(make_matcher=make, resources=WorkerResources(cpus=0.5, workers=1)),
    )
    assert all(ids == before for ids in seen)  # nothing is seen before the end
    assert done.to_dict() == theirs.add(documents, prune=True).to_dict()
    assert done.replaced and done.removed and done.added
    assert_equal(ours, theirs)


def test_more_than_a_machine_has_is_refused_in_one_sentence(
    cluster: Any, documents: Path, tmp_path: Path, make: Make, matcher: HybridMatcher
) -> None:
    library = Library(tmp_path / "cluster", matcher)
    with pytest.raises(LongmatchError, match="No machine of the cluster has 64 CPUs"):
        library.add(documents, backend=RayBackend(make_matcher=make, resources=WorkerResources(cpus=64)))


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    return write_texts(tmp_path / "texts", range(12))


@pytest.fixture
def library(tmp_path: Path, texts: Path, matcher: HybridMatcher) -> Library:
    """Two of the documents."""
    library = Library(tmp_path / "library", matcher)
    library.add([texts / "d000.txt", texts / "d001.txt"])
    return library


def stopped_after(library: Library, texts: Path, make: Callable[[], HybridMatcher], numbers: range) -> None:
    """What a run leaves that encoded these documents, one a step, and was killed."""
    encoder = EncodeWorker(library.address, make, 1)
    encoder.ready()
    journal = Journal(Path(library.address) / JOURNAL, library.store.version)
    for step, number in enumerate(numbers):
        document = read(texts / f"d{number:03}.txt")
        fragments, tokens = encoder.encode([[DocumentToEncode(0, document.id, "texts/" + document.id)]], [document])
        assert tokens > 10
        journal.append(FinishedStep(step, fragments, [document.id]))


def recovered(library: Library) -> list[str]:
    with library.writer() as writer:
        recover(Path(library.address) / JOURNAL, writer)
    assert not (Path(library.address) / JOURNAL).exists()
    return list(library)


def test_finished_documents_are_taken_in_and_replace_those_of_their_id(
    library: Library, texts: Path, make: Callable[[], HybridMatcher]
) -> None:
    write_texts(texts, range(1, 2), salt=1)
    stopped_after(library, texts, make, range(1, 5))
    assert recovered(library) == [f"d{number:03}.txt" for number in range(5)]
    assert library.show("d001.txt").text == (texts / "d001.txt").read_text()
    assert library.rank("d001.txt", k=9) and len(library.rank("d001.txt", k=9)) == 4


def test_they_are_left_out_where_the_library_has_changed_since(
    library: Library, texts: Path, make: Callable[[], HybridMatcher]
) -> None:
    stopped_after(library, texts, make, range(2, 5))
    library.add(texts / "d003.txt")
    assert recovered(library) == ["d000.txt", "d001.txt", "d003.txt"]


def test_they_are_left_out_where_their_files_are_gone(
    library: Library, texts: Path, make: Callable[[], HybridMatcher]
) -> None:
    data = Path(library.address) / "documents.lance" / "data"
    before = set(data.iterdir())
    stopped_after(library, texts, make, range(2, 5))
    (set(data.iterdir()) - before).pop().unlink()
    assert recovered(library) == ["d000.txt", "d001.txt"]


def test_a_cut_off_line_ends_what_is_taken_in(library: Library, texts: Path, make: Callable[[], HybridMatcher]) -> None:
    stopped_after(library, texts, make, range(2, 5))
    journal = Path(library.address) / JOURNAL
    journal.write_text(journal.read_text()[:-9])
    assert recovered(library) == [f"d{number:03}.txt" for number in range(4)]


def test_a_worker_with_another_model_is_refused(library: Library, tiny_roberta: Path) -> None:
    with pytest.raises(LibraryError, match="was made with the model"):
        EncodeWorker(library.address, lambda: tiny_matcher(tiny_roberta), 1).ready()


def test_a_worker_that_does_not_see_the_library_says_so(tmp_path: Path, make: Callable[[], HybridMatcher]) -> None:
    with pytest.raises(LibraryError, match="does not exist on the machine"):
        EncodeWorker(str(tmp_path / "elsewhere"), make, 1).ready()
