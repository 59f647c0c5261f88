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
from longmatch.distributed.indexing import RayBackend
from longmatch.distributed.journal import JOURNAL
from longmatch.errors import LongmatchError
from longmatch.library.indexing import IndexingProgress
from longmatch.library.library import Library
from tests.distributed.comparing import assert_equal, make_and_note
from tests.library.tiny import made_up_text, write_texts

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
