"""Author, year and DOI: found where a format states them, dropped where they cannot be."""

import io
import zipfile
from pathlib import Path

import pytest

from longmatch.documents.metadata import author_names, bibliography, doi_of, year_of
from longmatch.documents.pdf.metadata import pdf_metadata
from tests.documents.packed import core_properties


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("2019", 2019),
        ("2019-03", 2019),
        ("2019/3/12", 2019),
        ("20190312", 2019),
        ("D:20190312101500+01'00'", 2019),
        ("2019-00-00 2019", 2019),
        ("Tue, 12 Mar 2019 10:00:00 +0100", 2019),
        ("Spring 1848", 1848),
        ("", None),
        ("0101-01-01", None),  # what a program writes for unknown
        ("0000-00-00", None),
        ("1399", None),
        ("9999-12-31", None),
        ("1998-2002", None),
        ("forthcoming", None),
        ("20192", None),
    ],
)
def test_a_year_is_taken_from_a_date_that_can_be_one(text, year):
    assert year_of(text) == year


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("https://doi.org/10.18653/v1/P17-1001.", "10.18653/v1/p17-1001"),
        ("doi:10.1002/(SICI)1097-4571(199806)49:8<1", "10.1002/(sici)1097-4571(199806)49:8"),
        ("(10.1000/x)", "10.1000/x"),
        ("10.18653/v1/", ""),
        ("version 10.2/3", ""),
        ("10.1000/" + "x" * 500, ""),
        ("10.1000/)", ""),
    ],
)
def test_a_doi_is_found_without_the_punctuation_around_it(text, doi):
    assert doi_of(text) == doi


@pytest.mark.parametrize("name", ["Unknown", "user", "python-docx", "12345", "http://a.b/c", "x", "bad\ufffd name", ""])
def test_what_is_no_name_is_dropped(name):
    assert author_names(name) == []


def test_long_hostile_values_cost_little_time():
    assert bibliography([" " * 90_000 + ";"], ["9" * 90_000], ["10.1000/" + ")" * 90_000]) == {}


XMP = (
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="urn:rdf"><rdf:Description xmlns:dc="urn:dc" xmlns:prism='
    '"http://prismstandard.org/namespaces/basic/2.0/" prism:doi="10.1000/XMP" dc:format="application/pdf"><dc:creator>'
    "<rdf:Seq><rdf:li>Jane Doe</rdf:li><rdf:li>Rick Roe</rdf:li></rdf:Seq></dc:creator>"
    "<prism:publicationDate>2018-05-01</prism:publicationDate></rdf:Description></rdf:RDF></x:xmpmeta>"
)


@pytest.mark.parametrize(
    ("xmp", "info", "page", "known"),
    [
        (XMP, {"Author": "Admin"}, "", {"author": "Jane Doe; Rick Roe", "year": 2018, "doi": "10.1000/xmp"}),
        ("", {"Author": "Jane Doe and R. Roe"}, "", {"author": "Jane Doe; R. Roe"}),
        ("", {"CreationDate": "D:20170207"}, "Proceedings 2017", {"year": 2017}),
        ("", {"CreationDate": "D:20170207"}, "Printed in 1905", {}),
        ("", {}, "See https://doi.org/10.1000/a for this paper.", {"doi": "10.1000/a"}),
        ("", {}, "https://doi.org/10.1145/3292500.\r\n3330701", {}),
        ("", {}, "https://doi.org/10.1145/3292500.3330701.\r\nWe match", {"doi": "10.1145/3292500.3330701"}),
        ("", {}, "Cites 10.1000/a and 10.1000/b.", {}),
        ("<x:xmpmeta><broken></x:xmpmeta>", {}, "", {}),
        ("<x:xmpmeta>" * 2_000, {}, "", {}),
    ],
)
def test_facts_of_a_pdf(tmp_path: Path, xmp, info, page, known):
    path = tmp_path / "a.pdf"
    path.write_bytes(b"%PDF-1.7\n" + xmp.encode() + b"\n%%EOF")
    assert pdf_metadata(path, info, page) == {**info, **known}


def test_the_properties_of_a_docx(opened):
    word = '<w:document xmlns:w="urn:w"><w:body><w:p><w:r><w:t>It falls.</w:t></w:r></w:p></w:body></w:document>'
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        file.writestr("word/document.xml", word)
        core = "<dc:creator>Doe, Jane;Roe, R.</dc:creator><dcterms:created>2019-03-12T10:00:00Z</dcterms:created>"
        file.writestr("docProps/core.xml", core_properties(core))
    assert opened("a.docx", made.getvalue()).metadata == {"author": "Doe, Jane; Roe, R.", "year": 2019}


def test_the_meta_tags_of_a_page(opened):
    page = (
        '<title>Rain | Journal</title><meta name="citation_title" content="On rain">'
        '<meta name="citation_author" content="Doe, Jane"><meta name="citation_author" content="Roe, R.">'
        '<meta name="author" content="The Site"><meta property="article:published_time" content="2019-03-12T10:00Z">'
        '<meta name="DC.identifier" content="doi:10.1000/rain"><p>It falls.</p>'
    )
    document = opened("a.html", page)
    assert document.title == "On rain"
    assert document.metadata == {"author": "Doe, Jane; Roe, R.", "year": 2019, "doi": "10.1000/rain"}


def test_the_front_matter_of_markdown(opened):
    front = "---\ntitle: On rain\nauthors:\n  - name: Jane Doe\n  - R. Roe\ndate: 2019-03-12\ntags: [wet, cold]\n---\n"
    document = opened("a.md", front + "It falls.\n")
    assert document.title == "On rain"
    assert document.metadata == {"author": "Jane Doe; R. Roe", "year": 2019, "tags": "wet; cold"}


def test_the_fields_of_json_lines_stay_as_they_are(opened):
    line = '{"id": "a", "text": "It falls.", "author": ["J. Doe", "R. Roe"], "date": "2019-03-12", "court": 3}\n'
    assert opened("a.jsonl", line).metadata == {
        **{"author": "J. Doe; R. Roe", "authors": ["J. Doe", "R. Roe"]},
        **{"date": "2019-03-12", "court": 3, "year": 2019},
    }
