"""What a process that was killed left unfinished is finished by the next question."""

import re
from pathlib import Path

import pytest

from longmatch.library.library import Library
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
    return {index.columns[0] for index in library._store._documents.list_indices()}
