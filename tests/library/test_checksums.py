"""A byte of a library that flips on disk is noticed: what can be made again is, and the rest is said in a sentence."""

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from longmatch.default.matcher import HybridMatcher
from longmatch.errors import LongmatchError
from longmatch.library import checksums
from longmatch.library.checksums import CheckedFiles, checksum, from_checked_json, storage_errors, to_checked_json
from longmatch.library.errors import LibraryError
from longmatch.library.library import Library
from tests.library.tiny import made_up_text
from tests.safety.flips import flip

Opened = Callable[[], Library]
WORDS = "LanceError(IO): Corrupt file: checksum mismatch, the data file is damaged"


@pytest.fixture
def filled(library: Library, texts: Path) -> Library:
    library.add(texts)
    return library


def flip_middle(path: Path) -> None:
    flip(path, 4 * path.stat().st_size)


def largest(folder: Path) -> Path:
    return max((path for path in folder.rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)


def answers(library: Library) -> list[tuple[str, float]]:
    return [(hit.id, hit.score) for hit in library.rank("d001.txt", k=8)]


def test_json_knows_its_checksum_whichever_character_changes() -> None:
    text = to_checked_json({"a": [1, 2], "b": "c"})
    assert from_checked_json(text) == {"a": [1, 2], "b": "c"}
    assert json.loads(text)["a"] == [1, 2]
    for place in range(len(text)):
        with pytest.raises(ValueError):
            from_checked_json(text[:place] + chr(ord(text[place]) ^ 1) + text[place + 1 :])


@pytest.mark.parametrize("name", ["means", "words.frequencies", "records.0", "words.norms", "segment.json"])
def test_a_flipped_bit_in_the_index_changes_no_answer(filled: Library, opened: Opened, name: str) -> None:
    before = answers(filled)
    (file,) = (Path(filled.address) / "index").glob(f"*/{name}")
    flip_middle(file)
    assert answers(opened()) == before
    assert not file.exists()  # the index was made again


def test_a_flipped_bit_among_the_documents_is_said_and_what_is_intact_can_be_had(
    filled: Library, opened: Opened, texts: Path
) -> None:
    before = answers(filled)
    data = largest(Path(filled.address) / "documents.lance" / "data")
    flip_middle(data)
    assert answers(opened()) == before  # from the index
    (texts / "d001.txt").write_text(made_up_text(77))
    for work in (lambda: opened().add(texts), lambda: opened().remove("d002.txt"), lambda: opened().find("river")):
        with pytest.raises(LongmatchError) as error:
            work()
        said = f"{data} is damaged: its checksum is wrong. Restore it from a backup, or remove {filled.address}"
        assert str(error.value).startswith(said)
    shutil.rmtree(Path(filled.address) / "index")
    with pytest.raises(LongmatchError, match="is damaged"):
        answers(opened())


def test_a_flipped_bit_in_the_list_of_versions_is_said(filled: Library, opened: Opened) -> None:
    latest = min((Path(filled.address) / "documents.lance" / "_versions").glob("*.manifest"))
    flip_middle(latest)
    with pytest.raises(LongmatchError, match="manifest is damaged: its checksum is wrong"):
        opened()


def test_a_lost_commit_is_said(filled: Library, opened: Opened) -> None:
    for latest in sorted((Path(filled.address) / "documents.lance" / "_versions").glob("*.manifest"))[:1]:
        latest.unlink()
    for hint in (Path(filled.address) / "documents.lance" / "_versions").glob("*hint*"):
        hint.unlink()
    with pytest.raises(LongmatchError, match="is damaged"):
        answers(opened())


def test_records_of_files_that_are_damaged_can_be_made_again(filled: Library, opened: Opened, texts: Path) -> None:
    flip_middle(largest(Path(filled.address) / "files.lance" / "data"))
    assert len(answers(opened())) == 7
    with pytest.raises(LongmatchError, match=r"Remove \S+files.lance and index again"):
        opened().add(texts)
    shutil.rmtree(Path(filled.address) / "files.lance")
    assert opened().add(texts).unchanged == 8
    assert opened().add(texts).unchanged == 8


def test_a_file_is_read_once_to_be_checked_and_then_as_long_as_it_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("content")
    sums, read = {"a": checksum(tmp_path / "a")}, []
    monkeypatch.setattr(checksums, "checksum", lambda path: read.append(path) or checksum(path))
    for _ in range(3):
        assert CheckedFiles(tmp_path).damaged(sums) == []
    assert len(read) == 1
    os.utime(tmp_path / "a", (1, 1))
    assert CheckedFiles(tmp_path).damaged(sums) == [] and len(read) == 2
    state = (tmp_path / "a").stat()
    (tmp_path / "a").write_text("contenu")
    os.utime(tmp_path / "a", ns=(state.st_atime_ns, state.st_mtime_ns))
    assert CheckedFiles(tmp_path).damaged(sums, recheck=True) == []  # checked a moment ago
    later = time.time() + 8 * 86_400
    monkeypatch.setattr(time, "time", lambda: later)
    assert CheckedFiles(tmp_path).damaged(sums) == []  # readers do not take the time
    assert CheckedFiles(tmp_path).damaged(sums, recheck=True) == ["a"]


def test_a_library_without_checksums_is_opened_with_a_remark_until_it_changes(
    filled: Library, tiny: HybridMatcher
) -> None:
    (Path(filled.address) / "checksums.json").unlink()
    said: list[str] = []
    library = Library(filled.address, tiny, create=False, on_message=said.append)
    assert len(said) == 1 and "has no valid checksums.json" in said[0]
    library.remove("d000.txt")
    Library(filled.address, tiny, create=False, on_message=said.append)
    assert len(said) == 1


def said(address: str, error: BaseException) -> str:
    with pytest.raises(LibraryError) as raised, storage_errors(address):
        raise error
    return str(raised.value)


@pytest.mark.parametrize("kind", [OSError, RuntimeError, ValueError])
def test_an_engines_words_make_no_library_damaged(filled: Library, kind: type[Exception]) -> None:
    sentence = said(filled.address, kind(WORDS))
    assert "could not be used" in sentence and "not known to be damaged" in sentence and "backup" not in sentence


def test_too_little_memory_is_no_damage(filled: Library) -> None:
    assert "not enough memory" in said(filled.address, MemoryError())


@pytest.mark.parametrize(("change", "what"), [(flip_middle, "its checksum is wrong"), (Path.unlink, "is missing")])
def test_a_file_that_is_damaged_or_missing_is_named_whatever_the_engine_says(
    filled: Library, change: Callable[[Path], None], what: str
) -> None:
    file = largest(Path(filled.address) / "documents.lance" / "data")
    change(file)
    sentence = said(filled.address, RuntimeError("something else"))
    assert f"documents.lance/data/{file.name}" in sentence and what in sentence


def test_to_remove_nothing_does_nothing(filled: Library) -> None:
    filled.remove([])
    assert len(filled) == 8
