"""JATS XML."""

import pytest

from longmatch.documents.read import list_folder
from longmatch.errors import ReadError
from tests.documents.packed import JATS
from tests.documents.shapes import kinds, outline


@pytest.mark.parametrize("name", ["a.xml", "a.nxml"])
def test_an_article_is_read_with_sections_captions_tables_and_references(opened, name):
    document = opened(name, JATS)
    assert document.title == "Why ferries run late"
    assert [(level, heading) for level, heading, _ in outline(document)] == [
        (1, "Abstract"),
        (1, "1 Background"),
        (2, "Numbers"),
        (1, "Acknowledgements"),
        (1, "References"),
    ]
    assert kinds(document) == [
        ("text", "Ferries wait for water."),
        ("text", "The tide1 decides."),
        ("text", "See below."),
        ("text", "Wind."),
        ("text", "Rain."),
        ("text", "That is all."),
        ("caption", "Table 1. Delays By month."),
        ("table", "month | delay\nMay | 7 min"),
        ("footnote", "Rounded."),
        ("caption", "Figure 1. A ferry."),
        ("text", "We thank the harbour."),
        ("reference", "Roe R 2001"),
        ("reference", "Poe P. Boats. 1999."),
    ]


def test_authors_first_year_doi_and_journal_are_metadata(opened):
    known = {"author": "Doe, Jane; The Harbour Group", "year": 2019, "doi": "10.1000/tide.7", "journal": "Tides"}
    assert opened("a.xml", JATS).metadata == known


ENTITY = '<!DOCTYPE article [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><article><body><p>&b;</p></body></article>'
EXTERNAL = '<!DOCTYPE article [<!ENTITY a SYSTEM "file:///etc/hostname">]><article><body><p>&a;</p></body></article>'


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("<project><target/></project>", "is XML, but not an article in JATS"),
        ("just words", "is damaged or not XML"),
        (JATS[:1500], "is damaged or not XML"),
        (ENTITY, "is damaged or not XML"),
        (EXTERNAL, "is damaged or not XML"),
        (ENTITY.encode("utf-16"), "is damaged or not XML"),
        (f"<article><body>{'<sec>' * 5000}<p>x</p>{'</sec>' * 5000}</body></article>", "is nested too deep"),
    ],
)
def test_other_xml_and_bombs_are_refused(opened, content, said):
    with pytest.raises(ReadError, match=said):
        opened("a.xml", content)


def test_in_a_folder_other_xml_is_passed_over(tmp_path):
    (tmp_path / "a.xml").write_text(JATS)
    (tmp_path / "pom.xml").write_text("<project/>")
    found = list_folder(tmp_path)
    assert [p.name for p in found.readable] == ["a.xml"] and [p.name for p in found.unsupported] == ["pom.xml"]
