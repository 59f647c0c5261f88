"""Files that change: when they count."""

import shutil
import threading
import time
from pathlib import Path

import pytest

from longmatch.library.watching import Watcher, states
from tests.documents.odd_entries import within, write_odd_entries

INTERVAL = 0.05


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "texts"
    place.mkdir()
    (place / "a.txt").write_text("One.")
    return place


@pytest.fixture
def watcher(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Watcher:
    monkeypatch.setattr(Watcher, "interval", INTERVAL)
    monkeypatch.setattr(Watcher, "longest_wait", 1.0)
    return Watcher([folder])


def later(seconds: float, change) -> None:
    threading.Timer(seconds, change).start()


def names(watcher: Watcher) -> set[str]:
    return {path.name for path in watcher.indexed}


def test_new_changed_and_removed_files_count_each_once(watcher: Watcher, folder: Path) -> None:
    changes = watcher.changes()
    (folder / "b.txt").write_text("Two.")
    next(changes)
    assert names(watcher) == {"a.txt", "b.txt"}
    later(0.2, lambda: (folder / "b.txt").write_text("Two and more."))
    next(changes)
    assert watcher.indexed[folder / "b.txt"][0] == len("Two and more.")
    later(0.2, (folder / "a.txt").unlink)
    next(changes)
    assert names(watcher) == {"b.txt"}


def test_what_changes_while_the_caller_works_counts_next_time(watcher: Watcher, folder: Path) -> None:
    changes = watcher.changes()
    (folder / "b.txt").write_text("Two.")
    next(changes)
    (folder / "c.txt").write_text("Three.")
    next(changes)
    assert names(watcher) == {"a.txt", "b.txt", "c.txt"}


def test_other_files_do_not_count(watcher: Watcher, folder: Path) -> None:
    (folder / "x.exe").write_text("no")
    (folder / ".hidden.txt").write_text("no")
    later(0.4, lambda: (folder / "b.txt").write_text("Two."))
    started = time.monotonic()
    next(watcher.changes())
    assert time.monotonic() - started > 0.3 and names(watcher) == {"a.txt", "b.txt"}


def test_a_file_that_is_being_written_is_waited_for_but_not_for_ever(watcher: Watcher, folder: Path) -> None:
    stop = threading.Event()

    def write() -> None:
        with (folder / "growing.txt").open("a") as file:
            while not stop.wait(INTERVAL / 5):
                file.write("more ")
                file.flush()

    writer = threading.Thread(target=write)
    writer.start()
    started = time.monotonic()
    next(watcher.changes())
    stop.set()
    writer.join()
    assert time.monotonic() - started >= 0.9


def test_nothing_counts_while_a_folder_is_away(watcher: Watcher, folder: Path, tmp_path: Path) -> None:
    missing: list[Path] = []
    watcher.on_missing = missing.append
    folder.rename(tmp_path / "away")

    def back() -> None:
        (tmp_path / "away" / "b.txt").write_text("Two.")
        (tmp_path / "away").rename(folder)

    later(0.4, back)
    next(watcher.changes())
    assert missing == [folder] and names(watcher) == {"a.txt", "b.txt"}
    shutil.rmtree(folder)
    assert states([folder]) is None


def test_what_could_not_be_stored_counts_again(watcher: Watcher) -> None:
    watcher.forget()
    next(watcher.changes())
    assert names(watcher) == {"a.txt"}


def test_pipes_devices_and_links_to_themselves_are_not_waited_for(folder: Path) -> None:
    write_odd_entries(folder)
    with within(20):
        assert folder / "a.txt" in (states([folder]) or {})


def test_deleted_and_renamed_files_may_be_removed_and_no_others(watcher: Watcher, folder: Path, tmp_path: Path) -> None:
    (folder / "b.txt").write_text("Two.")
    changes = watcher.changes()
    next(changes)
    (folder / "a.txt").rename(folder / "c.txt")
    next(changes)
    assert watcher.deleted == {folder / "a.txt"}
    assert watcher.may_remove(folder / "a.txt", otherwise=False)
    assert watcher.may_remove(folder / "c.txt", otherwise=False)  # what it no longer holds: it is here
    assert not watcher.may_remove(folder / "gone-before.txt", otherwise=True)
    assert watcher.may_remove(tmp_path / "elsewhere.txt", otherwise=True)


def test_what_lies_on_a_disk_that_is_unplugged_is_not_deleted(watcher: Watcher, folder: Path) -> None:
    """A mount point stays, empty, as part of another disk."""
    on_disk = {path: state._replace(disk=state.disk + 1) for path, state in watcher.indexed.items()}
    watcher.indexed = on_disk
    (folder / "a.txt").unlink()
    next(watcher.changes())
    assert not watcher.deleted and not watcher.may_remove(folder / "a.txt", otherwise=True)


def test_a_file_that_came_back_and_is_missing_again_is_not_taken_for_deleted(watcher: Watcher, folder: Path) -> None:
    changes = watcher.changes()
    (folder / "b.txt").write_text("Two.")
    (folder / "a.txt").unlink()
    next(changes)
    assert watcher.deleted == {folder / "a.txt"}
    (folder / "a.txt").write_text("One.")
    next(changes)
    assert not watcher.deleted
