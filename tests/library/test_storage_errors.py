"""Whether a library is damaged is for its checksums to say, and not for the words of the engine that reads it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from longmatch.library.errors import LibraryError
from longmatch.library.library import Library
from longmatch.library.storage_errors import storage_errors
from tests.library.test_checksums import flip_middle, largest

WORDS = "LanceError(IO): Corrupt file: checksum mismatch, the data file is damaged"


@pytest.fixture
def filled(library: Library, texts: Path) -> Library:
    library.add(texts)
    return library


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
