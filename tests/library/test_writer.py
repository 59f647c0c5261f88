"""What a process that was killed left unfinished is finished by the next one; encoding again resumes."""

import re
from pathlib import Path

import pytest

from longmatch.library.library import Library
from longmatch.library.store import Store
from longmatch.library.writer import Writer


def test_a_reencoding_that_ended_before_its_full_text_index_gets_one_with_the_next_search(
    library: Library, texts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add(texts)
    word = max(re.findall(r"\w+", library.show("d000.txt").text), key=len)
    found = sorted(library.find_ids(word, 100))
    with monkeypatch.context() as killed:
        killed.setattr(Writer, "finish", _end)
        with pytest.raises(KeyboardInterrupt):
            library.reencode()
    opened = Library(library.address, library.matcher)
    assert "text" not in _indexed(opened)
    assert found and sorted(opened.find_ids(word, 100)) == found
    assert "text" in _indexed(opened)


def _end(*_: object) -> None:
    raise KeyboardInterrupt


def _indexed(library: Library) -> set[str]:
    return {index.columns[0] for index in library.store.documents.list_indices()}


@pytest.fixture
def interrupted(library: Library, texts: Path, monkeypatch: pytest.MonkeyPatch) -> Library:
    """A library whose documents were all encoded again, killed before they replaced the old ones."""
    library.add(texts)
    with monkeypatch.context() as killed:
        killed.setattr(Store, "replace_documents", _end)
        with pytest.raises(KeyboardInterrupt):
            library.reencode()
    return library


def test_what_was_encoded_is_not_encoded_again(interrupted: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(interrupted.matcher), "encode", _end)
    interrupted.reencode()
    assert len(interrupted) == 8


def test_documents_that_were_changed_and_removed_meanwhile_stay_so(interrupted: Library, texts: Path) -> None:
    (texts / "d000.txt").write_text("Lighthouses are painted white. Each has its own light.\n")
    (texts / "d001.txt").unlink()
    done = interrupted.add(texts, prune=True)
    assert (done.replaced, done.removed) == (["d000.txt"], ["d001.txt"])
    interrupted.reencode()
    assert list(interrupted) == [f"d{n:03}.txt" for n in range(8) if n != 1]
    assert interrupted.show("d000.txt").text.startswith("Lighthouses")


def test_a_document_whose_file_moved_meanwhile_keeps_its_new_file(interrupted: Library, texts: Path) -> None:
    moved = texts.rename(texts.parent / "moved")
    interrupted.add(moved, prune=True)
    interrupted.reencode()
    assert Path(interrupted.show("d000.txt").source) == moved / "d000.txt"
