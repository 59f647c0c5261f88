"""`index --zotero` and `show --bibtex`, `--ris`, `--csv`, as the user runs them."""

import csv
from io import StringIO

import pytest

from tests.cli.conftest import TEXTS
from tests.library.zotero_database import ZoteroFolder


@pytest.fixture
def zotero(tmp_path):
    made = ZoteroFolder(tmp_path / "Zotero")
    for name, author, year in (("bank.md", "Doe, Jane", "2019"), ("snow.txt", "=Roe, Rick", "2021")):
        made.attach(made.item(authors=(author,), title=f"On {name}", date=year), name, TEXTS[name])
    made.database.commit()
    return made


def test_zoteros_attachments_are_indexed_filtered_and_exported(longmatch, zotero, tmp_path):
    library = tmp_path / "library"
    assert longmatch("index", library, "--zotero", zotero.path).out == f"{library}: 2 added\n"
    hits = longmatch("rank", "--text", "banks and snow", library, "--where", "author contains 'doe'", "--json").json[
        "hits"
    ]
    assert [hit["title"] for hit in hits] == ["On bank.md"]
    listed = longmatch("show", library, "--where", "year > 2019", "--json").json["documents"]
    assert [row["metadata"]["author"] for row in listed] == ["=Roe, Rick"]
    assert "author = {Doe, Jane}" in longmatch("show", library, "KEY00002/bank.md", "--bibtex", "-").out
    assert longmatch("show", library, "--find", "snow", "--ris", "-").out.count("TY  - ") == 1
    assert longmatch("show", library, "--csv", tmp_path / "a.csv").out == f"{tmp_path / 'a.csv'}: 2 documents\n"
    with (tmp_path / "a.csv").open(newline="") as file:
        assert [row["author"] for row in csv.DictReader(file)] == ["Doe, Jane", "'=Roe, Rick"]
    assert "Doe, Jane, 2019" in longmatch("show", library, "KEY00002/bank.md").out


def test_nothing_to_export_and_no_zotero_are_one_sentence_each(longmatch, zotero, tmp_path):
    library = tmp_path / "library"
    longmatch("index", library, "--zotero", zotero.path)
    assert "no document to export" in longmatch("show", library, "--where", "year > 2030", "--bibtex", "-").complaint
    assert "is not understood" in longmatch("show", library, "--where", "year >", "--bibtex", "-").complaint
    assert "holds no zotero.sqlite" in longmatch("index", library, "--zotero", tmp_path).complaint


def test_a_bibliography_is_not_written_over_a_file_of_another_kind(longmatch, folder, tmp_path):
    library = tmp_path / "library"
    longmatch("index", library, folder / "bank.md")
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    for option in ("--bibtex", "--ris", "--csv"):
        assert "exists and does not end in" in longmatch("show", library, option, notes).complaint
    assert notes.read_text() == "mine"


def test_every_table_names_a_documents_file_by_the_same_path(longmatch, folder, tmp_path):
    library = tmp_path / "library"
    longmatch("index", library, folder)
    tables = longmatch("show", library, "--csv", "-").out, longmatch("rank", "bank.md", library, "--csv", "-").out
    shown, ranked = ({row["id"]: row["source"] for row in csv.DictReader(StringIO(table))} for table in tables)
    assert shown == {name: str(folder / name) for name in shown}
    assert ranked and ranked.items() <= shown.items()
