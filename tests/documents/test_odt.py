"""ODT: one file made by an office suite, the rest written part by part."""

from pathlib import Path

import pytest

from longmatch.documents import read
from longmatch.errors import ReadError
from tests.documents.packed import ODF_NAMES, odt, zipped
from tests.documents.shapes import kinds, outline

FILES = Path(__file__).parent / "files"


@pytest.mark.parametrize("name", ["office.odt", "office.rtf"])
def test_an_office_suites_file_is_read_like_its_docx(name):
    document, same = read(FILES / name), read(FILES / "office.docx")
    assert document.title == same.title
    assert outline(document) == outline(same) and kinds(document) == kinds(same)


def test_headings_have_the_outline_level_and_the_title_style_gives_the_title(opened):
    styles = '<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Title"/>'
    body = (
        '<text:p text:style-name="P1">On rain</text:p><text:h text:outline-level="1">Why</text:h>'
        "<text:p>It falls.</text:p>"
        '<text:h text:outline-level="2">How<text:s text:c="3"/>much</text:h><text:p>A lot.</text:p>'
    )
    document = opened("a.odt", odt(body, styles))
    assert document.title == "On rain"
    assert outline(document) == [(1, "Why", ["It falls."]), (2, "How much", ["A lot."])]


def test_deleted_text_comments_and_tables_of_contents_are_left_out(opened):
    body = (
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p></text:deletion>"
        "</text:changed-region></text:tracked-changes>"
        "<text:table-of-content><text:index-body><text:p>Why 1</text:p></text:index-body></text:table-of-content>"
        "<text:p>Kept<office:annotation><text:p>a comment</text:p></office:annotation> words.</text:p>"
    )
    assert kinds(opened("a.odt", odt(body))) == [("text", "Kept words.")]


def test_the_description_of_a_picture_is_no_text(opened):
    body = "<text:p>A<draw:frame><svg:title>logo</svg:title><svg:desc>blue</svg:desc></draw:frame> b.</text:p>"
    assert kinds(opened("a.odt", odt(body))) == [("text", "A b.")]


def test_footnotes_boxes_and_tables_in_tables(opened):
    def table(*cells: str) -> str:
        row = "".join(f"<table:table-cell>{cell}</table:table-cell>" for cell in cells)
        return f"<table:table><table:table-row>{row}</table:table-row></table:table>"

    note = "<text:note-citation>1</text:note-citation><text:note-body><text:p>A note.</text:p></text:note-body>"
    box = "<draw:frame><draw:text-box><text:p>Boxed.</text:p></draw:text-box></draw:frame>"
    body = f"<text:p>Text<text:note>{note}</text:note>{box}.</text:p>" + table(
        "<text:p>a</text:p>", "<text:p>b</text:p>"
    )
    body += table("<text:p>left</text:p>", table("<text:p>c</text:p>", "<text:p>d</text:p>"))
    assert kinds(opened("a.odt", odt(body))) == [
        ("text", "Text."),
        ("footnote", "A note."),
        ("text", "Boxed."),
        ("table", "a | b"),
        ("text", "left"),
        ("table", "c | d"),
    ]


def test_a_huge_number_of_spaces_is_not_written_out(opened):
    document = opened("a.odt", odt('<text:p>Far<text:s text:c="2000000000"/>away.</text:p>'))
    assert len(document.text) < 200


def test_properties_give_author_year_and_title(opened):
    meta = (
        "<dc:title>On rain</dc:title><meta:initial-creator>Jane Doe</meta:initial-creator>"
        "<dc:creator>Typist</dc:creator>"
        "<meta:creation-date>2019-03-12T10:00:00</meta:creation-date>"
    )
    document = opened("a.odt", odt("<text:p>It falls.</text:p>", meta=meta))
    assert document.title == "On rain" and document.metadata == {"author": "Jane Doe", "year": 2019}


def test_an_encrypted_file_and_other_open_documents_are_refused(opened):
    manifest = "<manifest><file-entry><encryption-data/></file-entry></manifest>"
    with pytest.raises(ReadError, match="needs a password"):
        opened("a.odt", zipped({"META-INF/manifest.xml": manifest, "content.xml": b"\x93\x12"}))
    body = "<office:body><office:spreadsheet/></office:body>"
    sheet = f"<office:document-content {ODF_NAMES}>{body}</office:document-content>"
    with pytest.raises(ReadError, match="not a text"):
        opened("a.odt", zipped({"content.xml": sheet}))
