"""EPUB: chapters in reading order."""

import pytest

from longmatch.errors import ReadError
from tests.documents.packed import epub, zipped
from tests.documents.shapes import kinds, outline

META = (
    '<dc:title>On rain</dc:title><dc:creator opf:role="aut">Doe, Jane</dc:creator>'
    '<dc:creator opf:role="ill">Ink, I.</dc:creator><dc:date opf:event="modification">2023-01-01</dc:date>'
    "<dc:date>2019-03-12</dc:date><dc:identifier>urn:uuid:1</dc:identifier><dc:identifier>doi:10.1000/rain</dc:identifier>"
)


def test_chapters_follow_the_spine_with_headings_notes_and_tables(opened):
    second = (
        '<h1>Why</h1><p>It falls.</p><aside epub:type="footnote">Mostly.</aside>'
        "<table><tr><td>a</td><td>b</td></tr></table><nav>Contents</nav>"
    )
    document = opened(
        "a.epub", epub({"b.xhtml": "<h1>First</h1><p>Drops.</p>", "a%20b.xhtml": "x", "a.xhtml": second}, META)
    )
    assert document.title == "On rain"
    assert document.metadata == {"author": "Doe, Jane", "year": 2019, "doi": "10.1000/rain"}
    assert outline(document) == [(1, "First", ["Drops."]), (1, "Why", ["It falls.", "Mostly.", "a | b"])]
    assert [kind for kind, _ in kinds(document)] == ["text", "text", "footnote", "table"]


def test_the_table_of_contents_names_chapters_without_headings(opened):
    contents = (
        '<ol><li><a href="a.xhtml">One</a><ol><li><a href="a.xhtml#x">Part of one</a></li></ol></li>'
        '<li><a href="b.xhtml">Two</a></li></ol>'
    )
    pages = {"a.xhtml": "<p>It falls.</p><p>Part of one</p><p>Still.</p>", "b.xhtml": "<p>Two</p><p>It stops.</p>"}
    document = opened("a.epub", epub(pages, contents=contents))
    assert outline(document) == [(1, "One", ["It falls."]), (2, "Part of one", ["Still."]), (1, "Two", ["It stops."])]


def test_a_book_with_a_broken_table_of_contents_is_still_read(opened):
    assert kinds(opened("a.epub", epub({"a.xhtml": "<p>Text.</p>"}, contents="<ol><li>&nbsp;"))) == [("text", "Text.")]


def encryption(algorithm: str, member: str) -> dict[str, str]:
    data = f'<EncryptionMethod Algorithm="{algorithm}"/><CipherData><CipherReference URI="{member}"/></CipherData>'
    return {"META-INF/encryption.xml": f"<encryption><EncryptedData>{data}</EncryptedData></encryption>"}


def test_a_protected_book_is_refused_but_scrambled_fonts_do_no_harm(opened):
    pages = {"a.xhtml": "<p>Text.</p>"}
    with pytest.raises(ReadError, match="is protected against reading"):
        opened("a.epub", epub(pages, extra=encryption("http://www.w3.org/2001/04/xmlenc#aes128-cbc", "OEBPS/a.xhtml")))
    fonts = encryption("http://www.idpf.org/2008/embedding", "OEBPS/font.otf")
    assert kinds(opened("b.epub", epub(pages, extra=fonts))) == [("text", "Text.")]


def test_a_zip_file_without_a_package_is_refused(opened):
    with pytest.raises(ReadError, match="is a zip file but not an EPUB file"):
        opened("a.epub", zipped({"a.xhtml": "<p>x</p>"}))
