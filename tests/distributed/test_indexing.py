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

from longmatch.distributed.journal import NAME
from longmatch.distributed.on_ray import OnRay
from longmatch.errors import LongmatchError
from longmatch.library.adding import Standing
from longmatch.library.library import Library
from longmatch.models.hybrid.model import HybridMatcher

from ..library.tiny import made_up_text, write_texts
from .seen import assert_equal, make_and_note

Make = Callable[[], HybridMatcher]


@pytest.fixture(scope="module")
def matcher(make: Make) -> HybridMatcher:
    return make()


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """Files, a JSON Lines file, one that cannot be read, and two of one name."""
    folder = write_texts(tmp_path / "documents", range(60))
    (folder / "empty.md").write_text("")
    rows = [{"id": f"r{n}", "text": made_up_text(n), "year": 2000 + n} for n in range(100, 180)]
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, [*rows, {"nothing": 1}])))
    (folder / "more.jsonl").write_text(json.dumps({"id": "r100", "text": made_up_text(999)}))
    return folder


def libraries(tmp_path: Path, matcher: HybridMatcher) -> tuple[Library, Library]:
    """To be filled on the cluster, and here."""
    return Library(tmp_path / "cluster", matcher), Library(tmp_path / "here", matcher)


def test_the_library_is_that_of_one_machine_though_a_worker_and_a_machine_die(
    cluster: Any, documents: Path, tmp_path: Path, tiny_bert: Path, matcher: HybridMatcher
) -> None:
    ours, theirs = libraries(tmp_path, matcher)
    notes = tmp_path / "notes"
    notes.mkdir()
    lost = cluster.add_node(num_cpus=1, object_store_memory=100_000_000)
    deeds: list[str] = []

    def strike(standing: Standing) -> None:
        if standing.documents >= 8 and not deeds:
            os.kill(int(min(notes.iterdir()).name), signal.SIGKILL)
            deeds.append("worker")
        elif standing.documents >= 40 and len(deeds) == 1:
            cluster.remove_node(lost, allow_graceful=False)
            deeds.append("machine")

    way = OnRay(make=partial(make_and_note, tiny_bert, notes), step_documents=4)
    done = ours.add(documents, progress=strike, way=way)
    assert deeds == ["worker", "machine"]
    assert done.to_dict() == theirs.add(documents).to_dict()
    assert len(ours) == 141
    assert_equal(ours, theirs)


def test_changed_and_vanished_documents_are_replaced_and_removed_in_one_commit(
    cluster: Any, documents: Path, tmp_path: Path, make: Make, matcher: HybridMatcher
) -> None:
    ours, theirs = libraries(tmp_path, matcher)
    theirs.add(documents)
    shutil.copytree(theirs.address, ours.address)
    ours = Library(ours.address, matcher)
    write_texts(documents, range(5), salt=1)
    (documents / "d006.txt").unlink()
    rows = [{"id": f"r{n}", "text": made_up_text(n + n % 2)} for n in range(105, 190)]
    (documents / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    ours._index = None
    before = ours._store.version
    commits: list[int] = []
    done = ours.add(
        documents, True, lambda _: commits.append(Library(ours.address, matcher)._store.version), OnRay(make=make)
    )
    assert set(commits) == {before}  # nothing is seen before the end
    assert done.to_dict() == theirs.add(documents, prune=True).to_dict()
    assert_equal(ours, theirs)


def test_a_run_that_was_stopped_goes_on_where_it_was(
    cluster: Any, documents: Path, tmp_path: Path, make: Make, matcher: HybridMatcher
) -> None:
    ours, theirs = libraries(tmp_path, matcher)
    way = OnRay(make=make, step_documents=4)

    def stop(standing: Standing) -> None:
        if standing.documents >= 60:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ours.add(documents, progress=stop, way=way)
    assert len(ours) == 0 and (tmp_path / "cluster" / NAME).exists()
    with (tmp_path / "cluster" / NAME).open("a") as journal:
        journal.write('{"step": 15, "fragm')  # killed while it wrote
    done = Library(ours.address, matcher).add(documents, way=way)
    assert len(done.added) <= 141 - 60
    theirs.add(documents)
    assert_equal(ours, theirs)
    assert not (tmp_path / "cluster" / NAME).exists()


def test_what_a_stopped_run_wrote_is_left_out_when_the_library_has_changed_since(
    cluster: Any, documents: Path, tmp_path: Path, make: Make, matcher: HybridMatcher
) -> None:
    ours, theirs = libraries(tmp_path, matcher)

    def stop(standing: Standing) -> None:
        if standing.documents >= 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ours.add(documents, progress=stop, way=OnRay(make=make, step_documents=4))
    ours.add(documents / "d003.txt")
    ours.add(documents, way=OnRay(make=make))
    theirs.add(documents / "d003.txt")
    theirs.add(documents)
    assert_equal(ours, theirs)


def test_a_worker_with_another_model_is_refused_in_one_sentence(
    cluster: Any, documents: Path, tmp_path: Path, matcher: HybridMatcher, tiny_roberta: Path
) -> None:
    from ..library.tiny import tiny_matcher

    library = Library(tmp_path / "cluster", matcher)
    with pytest.raises(LongmatchError, match="was made with the model") as error:
        library.add(documents, way=OnRay(make=partial(tiny_matcher, tiny_roberta)))
    assert "\n" not in str(error.value)


def test_more_than_a_machine_has_is_refused_in_one_sentence(
    cluster: Any, documents: Path, tmp_path: Path, make: Make, matcher: HybridMatcher
) -> None:
    from longmatch.distributed.crew import Share

    library = Library(tmp_path / "cluster", matcher)
    with pytest.raises(LongmatchError, match="No machine of the cluster has 64 CPUs"):
        library.add(documents, way=OnRay(make=make, share=Share(cpus=64)))
