"""Ranking for a text that is in no file."""

import pytest

import longmatch as lm
from longmatch.errors import LongmatchError
from longmatch.matching.hits import Hits

TEXT = "A bank run begins when depositors doubt their savings."


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "papers"
    place.mkdir()
    (place / "bank.txt").write_text("The bank failed. Depositors queued for their savings.")
    (place / "snow.txt").write_text("Snow fell on the northern hills. The road was shut.")
    return place


def test_a_text_ranks_a_library_its_folder_and_documents_in_memory(folder, tmp_path):
    library = lm.Library(tmp_path / "library")
    library.add(folder)
    for documents in (library, tmp_path / "library", str(tmp_path / "library"), list(library.documents)):
        hits = lm.rank_text(TEXT, documents)
        assert isinstance(hits, Hits) and [hit.id for hit in hits] == ["bank.txt", "snow.txt"]
    assert len(lm.rank_text(TEXT, library, k=1)) == 1
    assert [hit.id for hit in lm.rank_text(TEXT, library, where="id = 'snow.txt'")] == ["snow.txt"]


def test_a_condition_needs_a_library_and_a_text_needs_words(folder):
    documents = [lm.read(file) for file in sorted(folder.iterdir())]
    with pytest.raises(LongmatchError, match="condition"):
        lm.rank_text(TEXT, documents, where="id = 'snow.txt'")
    with pytest.raises(LongmatchError, match="is empty"):
        lm.rank_text(" ", documents)
