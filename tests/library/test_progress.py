"""Progress counts the work: what is encoded, of what was found and what is still to be read."""

from pathlib import Path

import pytest

from longmatch.library.files import SourceFile
from longmatch.library.library import Library
from longmatch.library.progress import IndexingProgress, Work


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
