"""Files are read by several processes; one that dies of a file takes no other file with it."""

import os
from pathlib import Path

import pytest

from longmatch import parallel
from longmatch.library.files import SourceFile, read_files
from tests.library.tiny import made_up_text, write_texts


class Deadly:
    """A path that kills the process that opens it, as a damaged file may kill a reader."""

    name = "deadly.txt"

    def stat(self) -> os.stat_result:
        os._exit(1)


def file_of(path: object, id: str, size: int = 50_000) -> SourceFile:
    return SourceFile(path, id, id, "", size, 0)  # type: ignore[arg-type]


def test_a_file_that_kills_its_reader_is_named_and_the_others_are_read_in_order(tmp_path: Path) -> None:
    folder = write_texts(tmp_path / "texts", range(16))
    files = [file_of(path, path.name) for path in sorted(folder.iterdir())]
    files.insert(5, file_of(Deadly(), "deadly"))
    read = [(found.file.id, [d.text for d in found.documents], found.problems) for found in read_files(files, 2)]
    assert [id for id, _, _ in read] == [file.id for file in files]
    assert [texts for id, texts, _ in read if id != "deadly"] == [[made_up_text(n)] for n in range(16)]
    problems = [str(problem) for _, _, problems in read for problem in problems]
    assert len(problems) == 1
    assert "crashed its reader" in problems[0]


def test_files_too_small_to_be_worth_a_process_are_read_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "new_pool", None)
    folder = write_texts(tmp_path / "texts", range(16))
    files = [file_of(path, path.name, path.stat().st_size) for path in sorted(folder.iterdir())]
    assert [d.text for found in read_files(files, 2) for d in found.documents] == [made_up_text(n) for n in range(16)]


def test_a_pdf_is_never_read_by_the_process_that_indexes(tmp_path: Path) -> None:
    deadly = Deadly()
    deadly.name = "deadly.pdf"
    files = [file_of(path, path.name) for path in sorted(write_texts(tmp_path / "texts", range(2)).iterdir())]
    read = [
        (found.file.id, list(found.documents), found.problems) for found in read_files([*files, file_of(deadly, "d")])
    ]
    assert [len(documents) for _, documents, _ in read] == [1, 1, 0]
    assert "crashed its reader" in str(read[-1][2][0])
