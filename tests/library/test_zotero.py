"""Zotero's attachments in a library, with what Zotero knows of them."""

import os
import sqlite3
from pathlib import Path

import pytest

from longmatch.errors import LongmatchError
from longmatch.library.library import Library
from longmatch.library.zotero import attachments
from tests.documents.odd_entries import within
from tests.library.zotero_database import ZoteroFolder

RAIN = "Rain fell on the hills all night. The road over the pass was shut until noon.\n"
TIDES = "The tide decides when the ferries sail. Nobody in the harbour can help it.\n"


@pytest.fixture
def zotero(tmp_path: Path) -> ZoteroFolder:
    return ZoteroFolder(tmp_path / "Zotero")


@pytest.fixture
def filled(zotero: ZoteroFolder) -> ZoteroFolder:
    """Two articles with files, one of them in collections and with tags."""
    tides = zotero.item(
        authors=("Doe, Jane", "Harbour Group"),
        editors=("Red, Ed",),
        title="Tides and ferries",
        date="2019-03-12 March 12, 2019",
        DOI="10.1000/TIDE.7",
        publicationTitle="Tides",
        pages="3-14",
    )
    zotero.attach(tides, "tides.txt", TIDES)
    zotero.tag(tides, "ferry", "tide; neap")
    rivers = zotero.collect("Rivers", tides)
    zotero.collect("Sea", tides, parent=rivers)
    rain = zotero.item(3, authors=("Roe, Rick",), title="Rain", date="0000-00-00 n.d.", extra="DOI: 10.1000/rain")
    zotero.attach(rain, "rain.txt", RAIN)
    zotero.database.commit()
    return zotero


def test_attachments_come_with_the_metadata_of_their_items(filled: ZoteroFolder) -> None:
    rain, tides = sorted(attachments(filled.path).files, key=lambda file: file.title)
    assert (tides.id, tides.title) == ("KEY00002/tides.txt", "Tides and ferries")
    assert tides.metadata == {
        "author": "Doe, Jane; Harbour Group",
        "year": 2019,
        "doi": "10.1000/tide.7",
        "journal": "Tides",
        "pages": "3-14",
        "type": "journalArticle",
        "tags": "ferry; tide; neap",
        "collections": "Rivers; Rivers/Sea",
        "zotero": "KEY00002",
    }
    assert rain.metadata == {"author": "Roe, Rick", "doi": "10.1000/rain", "type": "book", "zotero": "KEY00004"}


def test_binned_items_and_links_are_left_out_and_no_path_leads_out_of_the_storage(zotero: ZoteroFolder) -> None:
    gone = zotero.item(title="Gone")
    zotero.attach(gone, "gone.txt", RAIN)
    zotero.bin(gone)
    item = zotero.item(title="Kept")
    zotero.attach(item, "https://example.org/a.txt", None, link_mode=3)
    zotero.attach(item, "photo.jpg", "x")
    zotero.attach(item, "../../../etc/passwd.txt", None)
    zotero.attach(item, "attachments:base.txt", None, link_mode=2)
    zotero.database.commit()
    found = attachments(zotero.path)
    assert [file.path.relative_to(zotero.path).parts[0] for file in found.files] == ["storage"]
    assert found.files[0].path.name == "passwd.txt"
    assert [problem.path for problem in found.problems] == ["attachments:base.txt"]


def test_a_library_of_zoteros_files_is_filtered_by_author_year_and_tags(library: Library, filled: ZoteroFolder) -> None:
    summary = library.add(attachments(filled.path).files)
    assert sorted(summary.added) == ["KEY00002/tides.txt", "KEY00004/rain.txt"]
    for where, ids in {
        "year > 2018": ["KEY00002/tides.txt"],
        "author contains 'doe'": ["KEY00002/tides.txt"],
        "author contains 'RO'": ["KEY00002/tides.txt", "KEY00004/rain.txt"],
        "tags contains 'ferry' AND collections contains 'sea'": ["KEY00002/tides.txt"],
        "doi = '10.1000/rain'": ["KEY00004/rain.txt"],
        "author contains '%'": [],
    }.items():
        assert [record["id"] for record in library.records(where)] == ids, where
    assert library.show("KEY00002/tides.txt").title == "Tides and ferries"


def test_what_changes_in_zotero_changes_in_the_library(library: Library, filled: ZoteroFolder) -> None:
    library.add(attachments(filled.path).files)
    assert library.add(attachments(filled.path).files).unchanged == 2
    filled.set(1, "title", "Tides, revised")
    filled.database.commit()
    summary = library.add(attachments(filled.path).files)
    assert summary.replaced == ["KEY00002/tides.txt"] and summary.unchanged == 1
    assert library.show("KEY00002/tides.txt").title == "Tides, revised"
    filled.database.execute("DELETE FROM itemAttachments WHERE itemID = 4")
    filled.database.commit()
    (filled.path / "storage" / "KEY00004" / "rain.txt").unlink()
    assert library.add(attachments(filled.path).files, prune=True).removed == ["KEY00004/rain.txt"]


def test_a_file_that_is_not_on_this_computer_is_named(library: Library, filled: ZoteroFolder) -> None:
    filled.attach(1, "missing.txt", None)
    filled.database.commit()
    summary = library.add(attachments(filled.path).files)
    assert len(summary.added) == 2 and "missing.txt does not exist" in summary.unreadable[0][1]


def test_the_database_is_read_while_zotero_holds_it(filled: ZoteroFolder) -> None:
    filled.database.execute("PRAGMA locking_mode = EXCLUSIVE")
    filled.database.execute("BEGIN EXCLUSIVE")
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        sqlite3.connect(filled.path / "zotero.sqlite", timeout=0).execute("SELECT * FROM items")
    assert len(attachments(filled.path).files) == 2
    assert not list(filled.path.glob("zotero.sqlite-*")), "nothing is written beside it"


def test_a_folder_without_a_usable_database_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LongmatchError, match=r"holds no zotero\.sqlite"):
        attachments(tmp_path)
    (tmp_path / "zotero.sqlite").write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    with pytest.raises(LongmatchError, match="cannot be read as a Zotero library"):
        attachments(tmp_path)


def test_an_attachment_that_became_a_pipe_is_named_and_the_rest_indexed(filled: ZoteroFolder, tmp_path: Path) -> None:
    rain, tides = sorted(attachments(filled.path).files, key=lambda file: file.title)
    tides.path.unlink()
    os.mkfifo(tides.path)
    with within(60):
        done = Library(tmp_path / "library").add([rain, tides])
    assert list(done.added) == [rain.id] and "is a named pipe" in done.unreadable[0][1]
