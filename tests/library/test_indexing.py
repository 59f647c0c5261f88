"""Indexing is incremental: new, changed, unchanged and vanished files are told apart."""

import json
import os
import signal
from _thread import interrupt_main
from collections.abc import Callable
from pathlib import Path
from threading import Event, Lock
from time import sleep

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmatch.default.matcher import HybridMatcher
from longmatch.documents.read import read
from longmatch.library import files
from longmatch.library.files import SourceFile
from longmatch.library.indexing import IndexingProgress, Pipeline, Work
from longmatch.library.library import Library
from longmatch.library.writer import Writer
from tests.library.tiny import made_up_text, tiny_matcher, write_texts
from tests.tiny_models import save_roberta


def test_new_files_are_added_under_their_relative_paths(library: Library, texts: Path) -> None:
    write_texts(texts / "below", range(20, 21))
    done = library.add(texts)
    assert done.added == ["below/d020.txt", *(f"d{n:03}.txt" for n in range(8))]
    assert list(library) == sorted(done.added)
    assert len(library) == 9


def test_unchanged_files_are_not_encoded_again(library: Library, texts: Path, monkeypatch) -> None:
    library.add(texts)
    monkeypatch.setattr(library.matcher.backbone, "encode", None)  # calling it would raise
    done = library.add(texts)
    assert (done.added, done.replaced, done.unchanged) == ([], [], 8)


def test_a_file_written_again_with_the_same_content_is_unchanged(library: Library, texts: Path) -> None:
    library.add(texts)
    (texts / "d001.txt").write_text((texts / "d001.txt").read_text())
    assert library.add(texts).unchanged == 8


def test_a_changed_file_replaces_its_document(library: Library, texts: Path) -> None:
    library.add(texts)
    (texts / "d003.txt").write_text(made_up_text(99))
    done = library.add(texts)
    assert (done.replaced, done.unchanged) == (["d003.txt"], 7)
    assert library.show("d003.txt").text == made_up_text(99)
    assert len(library) == 8


def test_a_vanished_file_is_listed_and_stays_until_pruned(library: Library, texts: Path) -> None:
    library.add(texts)
    (texts / "d005.txt").unlink()
    assert library.add(texts).vanished == ["d005.txt"]
    assert "d005.txt" in library
    done = library.add(texts, prune=True)
    assert (done.vanished, done.removed) == ([], ["d005.txt"])
    assert "d005.txt" not in library
    assert library.add(texts, prune=True).removed == []


def test_files_outside_the_paths_given_are_not_missed(library: Library, texts: Path, tmp_path: Path) -> None:
    other = write_texts(tmp_path / "other", range(50, 52))
    library.add([texts, other])
    done = library.add(other, prune=True)
    assert (done.removed, len(library)) == ([], 10)


def test_files_of_the_same_name_get_ids_of_their_own(library: Library, texts: Path, tmp_path: Path) -> None:
    other = write_texts(tmp_path / "other", range(1, 2), salt=7)
    library.add(texts)
    assert library.add(other).added == ["d001.txt (2)"]
    assert library.add([other, texts]).unchanged == 9


def test_unreadable_files_are_named_each_time_and_the_rest_is_indexed(library: Library, texts: Path) -> None:
    (texts / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    for _ in range(2):
        done = library.add(texts)
        assert [Path(file).name for file, _ in done.unreadable] == ["broken.pdf"]
    assert len(library) == 8


def test_only_the_changed_lines_of_a_json_lines_file_are_encoded(library: Library, tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    rows = [{"id": f"r{n}", "title": f"DocumentRow {n}", "text": made_up_text(n), "year": 2000 + n} for n in range(6)]
    file.write_text("\n".join(map(json.dumps, rows)))
    assert library.add(file).added == [f"r{n}" for n in range(6)]
    rows[2]["text"] = made_up_text(77)
    file.write_text("\n".join(map(json.dumps, [*rows[:5], {"id": "r9", "text": made_up_text(9)}])))
    done = library.add(file)
    assert (done.added, done.replaced, done.unchanged, done.vanished) == (["r9"], ["r2"], 4, ["r5"])
    assert library.add(file, prune=True).removed == ["r5"]
    assert library.show("r2").metadata == {"year": 2002}


def test_a_document_comes_back_from_the_store_as_it_was_read(library: Library, tmp_path: Path) -> None:
    file = tmp_path / "notes.md"
    file.write_text(
        f"# On *rivers*\n\n{made_up_text(1)}\n\n## Méthode\n\n{made_up_text(2)}\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    )
    library.add(file)
    kept, fresh = library.show("notes.md"), read(file)
    assert (kept.title, kept.text, kept.plain, kept.sections) == (fresh.title, fresh.text, fresh.plain, fresh.sections)
    assert (kept.language, kept.words, Path(kept.source)) == (fresh.language, fresh.words, file)


def test_a_folder_can_be_moved_with_its_library(tiny, texts: Path, tmp_path: Path) -> None:
    Library(texts / ".longmatch", tiny).add(texts)
    moved = texts.rename(tmp_path / "moved")
    done = Library(moved / ".longmatch", tiny).add(moved)
    assert (done.added, done.replaced, done.unchanged) == ([], [], 8)


def test_a_removed_document_comes_back_when_its_file_is_indexed_again(library: Library, texts: Path) -> None:
    library.add(texts)
    library.remove(["d001.txt", "d002.txt"])
    assert len(library) == 6
    assert library.add(texts).added == ["d001.txt", "d002.txt"]


def test_many_files_are_read_by_several_processes_in_order(library: Library, tmp_path: Path) -> None:
    folder = write_texts(tmp_path / "many", range(30))
    (folder / "d010.txt").write_bytes(b"")
    done = library.add(folder)
    assert done.added == [f"d{n:03}.txt" for n in range(30) if n != 10]
    assert [Path(file).name for file, _ in done.unreadable] == ["d010.txt"]


def test_a_library_can_be_encoded_again_with_another_model(library: Library, texts: Path, tmp_path: Path) -> None:
    library.add(texts)
    (tmp_path / "other").mkdir()
    other = Library(library.address, tiny_matcher(save_roberta(tmp_path / "other")))
    told: list[int] = []
    other.reencode(told.append)
    assert sum(told) == 8
    assert other.add(texts).unchanged == 8
    made = Library(tmp_path / "fresh", other.matcher)
    made.add(texts)
    ranked = [[(hit.id, hit.score) for hit in asked.rank("d002.txt")] for asked in (other, made)]
    assert ranked[0] == ranked[1]
    vectors = [asked.searcher().index.live_column("means") for asked in (other, made)]
    assert np.allclose(vectors[0], vectors[1])


def test_an_address_of_object_storage_works_like_a_folder(tiny, texts: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    library = Library(f"file://{tmp_path}/elsewhere", tiny)
    assert len(library.add(texts).added) == 8
    again = Library(f"file://{tmp_path}/elsewhere", tiny)
    assert again.add(texts).unchanged == 8
    again.remove("d000.txt")
    assert {hit.id for hit in again.rank("d001.txt")} == {f"d{n:03}.txt" for n in range(2, 8)}
    assert (tmp_path / "cache" / "longmatch").is_dir()  # what is derived lies here


def test_a_library_whose_writer_was_killed_before_it_finished_answers_as_a_fresh_one(
    library: Library, opened: Callable[[], Library], texts: Path, tiny: HybridMatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add(texts)
    write_texts(texts, range(20, 26))
    with monkeypatch.context() as patched:
        patched.setattr(Writer, "finish", lambda *_: None)  # the documents are committed, the norms are not computed
        library.add(texts)
    fresh = Library(texts.parent / "fresh", tiny)
    fresh.add(texts)
    asked, wanted = ([(hit.id, hit.score) for hit in one.rank("d001.txt", k=20)] for one in (opened(), fresh))
    assert [id for id, _ in asked] == [id for id, _ in wanted]
    assert [score for _, score in asked] == pytest.approx([score for _, score in wanted], abs=1e-6)


def test_a_file_whose_time_alone_changed_is_read_once_more_and_no_further(
    library: Library, texts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in texts.iterdir():
        os.utime(path, (1e9, 1e9))
    library.add(texts)
    os.utime(texts / "d000.txt", (1.5e9, 1.5e9))
    hashed: list[str] = []
    content_of = files.file_hash
    monkeypatch.setattr(files, "file_hash", lambda path: hashed.append(path.name) or content_of(path))
    for _ in range(3):
        assert library.add(texts).unchanged == 8
    assert hashed == ["d000.txt"]


def test_what_another_process_adds_is_seen_by_every_verb(tiny, texts: Path, tmp_path: Path) -> None:
    mine, theirs = (Library(tmp_path / "shared", tiny) for _ in range(2))
    assert len(mine) == 0
    theirs.add(texts / "d000.txt")
    assert len(mine) == 1
    theirs.add(texts / "d001.txt")
    assert [row["id"] for row in mine.records()] == ["d000.txt", "d001.txt"]
    theirs.add(texts / "d002.txt")
    assert mine.summary()["documents"] == 3
    theirs.add(texts / "d003.txt")
    assert len(mine.records()) == 4


def test_equal_ids_are_numbered_past_those_of_other_files_and_kept(library: Library, tmp_path: Path) -> None:
    for file, first in (("a", 0), ("b", 3)):
        records = [{"id": "same", "text": made_up_text(n)} for n in range(first, first + 3)]
        (tmp_path / f"{file}.jsonl").write_text("\n".join(map(json.dumps, records)))
    assert library.add(tmp_path / "a.jsonl").added == ["same", "same (2)", "same (3)"]
    assert library.add(tmp_path / "b.jsonl").added == ["same (4)", "same (5)", "same (6)"]
    (tmp_path / "a.jsonl").write_text((tmp_path / "a.jsonl").read_text() + "\n")
    done = library.add(tmp_path)
    assert (done.added, done.replaced, done.unchanged) == ([], [], 6)


@settings(deadline=None)
@given(st.lists(st.integers(), max_size=12))
def test_items_leave_in_the_order_they_came(numbers):
    left = []
    with Pipeline([lambda n: n * 2, lambda n: n + 1, left.append]) as pipeline:
        for number in numbers:
            pipeline.put(number)
    assert left == [number * 2 + 1 for number in numbers]


def test_one_stage_works_while_the_next_does():
    second_began, first_came_again = Event(), Event()

    def first(number: int) -> int:
        if number == 2:
            assert second_began.wait(10)
            first_came_again.set()
        return number

    def second(number: int) -> None:
        if number == 1:
            second_began.set()
            assert first_came_again.wait(10)  # comes only if the first stage goes on meanwhile

    with Pipeline([first, second]) as pipeline:
        pipeline.put(1)
        pipeline.put(2)


def test_few_items_are_on_the_line_at_once():
    lock, on_line, most = Lock(), set(), 0

    def leave(number: int) -> None:
        with lock:
            on_line.discard(number)

    with Pipeline([lambda n: n, lambda n: n, leave]) as pipeline:
        for number in range(200):
            pipeline.put(number)
            with lock:
                on_line.add(number)
                most = max(most, len(on_line))
    assert most <= 7  # one in each of three stages, one before each, and the one just handed over


@pytest.mark.parametrize("stage", [0, 1, 2])
def test_an_error_is_raised_after_what_came_before_it_and_without_what_came_after(stage):
    left = []

    def maybe(number: int) -> int:
        if number == 5:
            raise ValueError("five")
        return number

    stages = [lambda n: n, lambda n: n, lambda n: n]
    stages[stage] = maybe
    with pytest.raises(ValueError, match="five"), Pipeline([*stages, left.append]) as pipeline:
        for number in range(100):
            pipeline.put(number)
    assert left == [0, 1, 2, 3, 4]


def test_of_two_errors_the_one_of_the_earlier_item_is_raised():
    second_failed = Event()

    def first(number: int) -> int:
        if number == 2:
            second_failed.set()
            raise ValueError("the later item, earlier in time")
        return number

    def last(number: int) -> None:
        assert second_failed.wait(10)
        raise ValueError("the earlier item")

    with pytest.raises(ValueError, match="the earlier item"), Pipeline([first, last]) as pipeline:
        pipeline.put(1)
        pipeline.put(2)


def test_an_interruption_drops_what_is_on_the_line_and_stops_a_long_stage():
    began, left = Event(), []

    def long(number: int) -> int:
        began.set()
        while True:
            pipeline.check()

    with pytest.raises(KeyboardInterrupt), Pipeline([long, left.append]) as pipeline:
        pipeline.put(1)
        assert began.wait(10)
        raise KeyboardInterrupt
    assert not left


@pytest.fixture
def heeds_interrupts():
    """As in a terminal; a background job inherits that they are ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeds_interrupts")
def test_interrupts_while_it_waits_for_the_end_keep_what_has_come_to_the_last_stage():
    left, waiting = [], Event()

    def keep(number: int) -> None:
        assert waiting.wait(10)
        for _ in range(2):
            interrupt_main()
            sleep(0.1)
        left.append(number)

    with pytest.raises(KeyboardInterrupt), Pipeline([lambda n: n, keep]) as pipeline:
        pipeline.put(1)
        waiting.set()
    assert left == [1]
    assert not any(thread.is_alive() for thread in pipeline.threads)


def file(name: str, size: int) -> SourceFile:
    return SourceFile(Path(name), name, name, "", size, 0)


def test_files_read_are_no_work_done() -> None:
    work = Work()
    work.expect([file("a.txt", 100), file("b.txt", 300)])
    assert work.progress().share == 0
    for name, size in (("a.txt", 100), ("b.txt", 300)):
        work.add(size)
        work.finish(file(name, size))
    assert work.progress().share == 0
    work.under_way = 100
    assert work.progress().share == 0.25
    work.encoded(400)
    assert work.progress().share == 1


def test_unread_files_count_as_those_of_their_format_did() -> None:
    work = Work()
    work.expect([file("a.pdf", 1000), file("b.PDF", 3000), file("c.txt", 60)])
    work.add(20)
    work.finish(file("a.pdf", 1000))
    work.encoded(20)
    assert work.progress().share == pytest.approx(20 / (20 + 60 + 60))


def test_the_part_of_a_file_that_was_read_is_not_counted_twice() -> None:
    work = Work()
    work.expect([file("all.jsonl", 1000)])
    work.add(500)
    work.encoded(500)
    assert work.progress().share == 0.5


def test_nothing_to_do_is_all_done() -> None:
    assert Work().progress().share == 1


def test_a_run_goes_through_its_phases_to_the_end_of_the_work(library: Library, texts: Path) -> None:
    standings: list[IndexingProgress] = []
    library.add(texts, progress=standings.append)
    assert not standings[0].files and not standings[0].tokens
    assert any(standing.files and not standing.tokens for standing in standings)
    assert any(standing.tokens and standing.share < 1 for standing in standings)
    assert (standings[-1].share, standings[-1].documents) == (1, 8)
    assert (standings[-1].read, standings[-1].written, standings[-1].written_share) == (1, 8, 1)
    assert any(standing.read > standing.share >= standing.written_share for standing in standings)
