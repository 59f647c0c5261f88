"""DOCX: one file made by an office suite, the rest written part by part."""

import io
import zipfile
from pathlib import Path

import pytest

from longmatch.documents import archive, read
from longmatch.errors import ReadError
from tests.documents.shapes import kinds, outline

OFFICE = Path(__file__).parent / "files" / "office.docx"
NAMESPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def part(root: str, content: str) -> str:
    return f'<w:{root} xmlns:w="{NAMESPACE}" xmlns:mc="urn:mc">{content}</w:{root}>'


def package(body: str, **parts: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("word/document.xml", part("document", f"<w:body>{body}</w:body>"))
        for root, content in parts.items():
            file.writestr(f"word/{root}.xml", part(root, content))
    return made.getvalue()


def p(text: str, style: str = "", run: str = "") -> str:
    style = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{style}<w:r><w:rPr>{run}</w:rPr><w:t>{text}</w:t></w:r></w:p>"


def style(id: str, name: str, parent: str = "", outline: str = "") -> str:
    inner = f'<w:name w:val="{name}"/>'
    inner += f'<w:basedOn w:val="{parent}"/>' if parent else ""
    inner += f'<w:pPr><w:outlineLvl w:val="{outline}"/></w:pPr>' if outline else ""
    return f'<w:style w:styleId="{id}">{inner}</w:style>'


def test_an_office_suites_file_is_read_with_all_its_parts():
    document = read(OFFICE)
    assert document.title == "A report on ferries"
    assert [(level, heading) for level, heading, _ in outline(document)] == [
        (1, "Why they run late"),
        (2, "The numbers"),
        (1, "References"),
    ]
    assert kinds(document) == [
        ("text", "The tide decides when they sail. We kept inserted words here."),
        ("footnote", "Twice a day."),
        ("table", "month | delay\nMay | 7 min"),
        ("caption", "Delays by month"),
        ("text", "Sail earlier."),
        ("text", "Wait less."),
        ("text", "One line\nand\tanother."),
        ("text", "Words in a box."),
        ("reference", "Doe, J. Ferries. 2001."),
    ]


@pytest.mark.parametrize(
    "styles",
    [
        style("berschrift2", "heading 2"),
        style("berschrift2", "Überschrift 2"),
        style("berschrift2", "Mein Stil", parent="B") + style("B", "heading 2"),
        style("berschrift2", "Mein Stil", outline="1"),
    ],
)
def test_a_heading_is_known_by_its_style_in_any_language(opened, styles):
    document = opened("a.docx", package(p("Kopf", "berschrift2") + p("Text hier."), styles=styles))
    assert outline(document) == [(2, "Kopf", ["Text hier."])]


def test_a_style_based_on_itself_does_no_harm(opened):
    styles = style("A", "a", parent="B") + style("B", "b", parent="A")
    assert outline(opened("a.docx", package(p("Text.", "A"), styles=styles))) == [(1, "", ["Text."])]


def test_without_heading_styles_short_bold_lines_are_headings(opened):
    document = opened("a.docx", package(p("Scope", run="<w:b/>") + p("It holds.") + p("Not bold") + p("More.")))
    assert outline(document) == [(1, "Scope", ["It holds.", "Not bold", "More."])]


def test_with_heading_styles_bold_lines_are_text(opened):
    body = p("Head", "H") + p("Scope", run="<w:b/>") + p("It holds.")
    assert outline(opened("a.docx", package(body, styles=style("H", "heading 1")))) == [
        (1, "Head", ["Scope", "It holds."])
    ]


def test_deleted_moved_and_hidden_words_are_dropped(opened):
    body = (
        "<w:p><w:r><w:t>Kept</w:t></w:r><w:del><w:r><w:delText>x</w:delText></w:r></w:del><w:ins>"
        "<w:r><w:t> new</w:t></w:r></w:ins><w:moveFrom><w:r><w:t>y</w:t></w:r></w:moveFrom>"
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t>z</w:t></w:r></w:p>"
    )
    assert kinds(opened("a.docx", package(body))) == [("text", "Kept new")]


def test_a_table_of_contents_is_left_out(opened):
    body = p("Scope 3", "T") + p("Text here.")
    assert kinds(opened("a.docx", package(body, styles=style("T", "toc 1")))) == [("text", "Text here.")]


def test_a_table_in_a_table_is_read_once(opened):
    def table(*cells: str) -> str:
        return f"<w:tbl><w:tr>{''.join(f'<w:tc>{cell}</w:tc>' for cell in cells)}</w:tr></w:tbl>"

    document = opened("a.docx", package(table(p("left"), p("right") + table(p("a"), p("b")))))
    assert kinds(document) == [("text", "left"), ("text", "right"), ("table", "a | b")]


def test_a_text_box_given_twice_is_read_once(opened):
    box = f"<w:txbxContent>{p('In a box.')}</w:txbxContent>"
    both = f"<mc:AlternateContent><mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent>"
    document = opened("a.docx", package(f"<w:p><w:r><w:t>Before.</w:t>{both}</w:r></w:p>"))
    assert kinds(document) == [("text", "Before."), ("text", "In a box.")]


def test_an_endnote_follows_its_paragraph(opened):
    body = '<w:p><w:r><w:t>Text.</w:t><w:endnoteReference w:id="1"/></w:r></w:p>' + p("More.")
    document = opened("a.docx", package(body, endnotes=f'<w:endnote w:id="1">{p("A note.")}</w:endnote>'))
    assert kinds(document) == [("text", "Text."), ("footnote", "A note."), ("text", "More.")]


def zipped(name: str, content: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, content)
    return made.getvalue()


BOMB = b'<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><document><body>&b;</body></document>'


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (zipped("a.txt", b"hello"), "is a zip file but not a DOCX file"),
        (b"just words", "is damaged or not a DOCX file"),
        (package(p("Text."))[:-40], "is damaged or not a DOCX file"),
        (zipped("word/document.xml", b"<w:document"), "is damaged"),
        (zipped("word/document.xml", BOMB), "is damaged"),
        (zipped("word/document.xml", BOMB.decode().encode("utf-16")), "is damaged"),
        (b"\xd0\xcf\x11\xe0" + b"x" * 100, "is encrypted, or an old .doc file"),
        (package(""), "holds no sentences"),
        (package("<w:sdt>" * 5_000 + p("Deep.") + "</w:sdt>" * 5_000), "is nested too deep"),
        (b"", "is empty"),
    ],
)
def test_what_is_no_docx_is_refused_with_one_sentence(opened, content, said):
    with pytest.raises(ReadError, match=said):
        opened("a.docx", content)


@pytest.mark.parametrize("encoding", ["foo", "rot13", "shift_jis", "idna"])
def test_a_part_in_an_encoding_that_xml_does_not_have_is_refused(opened, encoding):
    content = f'<?xml version="1.0" encoding="{encoding}"?><w:document xmlns:w="{NAMESPACE}"/>'.encode()
    with pytest.raises(ReadError, match="is damaged"):
        opened("a.docx", zipped("word/document.xml", content))


@pytest.mark.parametrize("field", [6, 10], ids=["version", "compression"])
def test_a_package_of_an_unknown_version_or_compression_is_refused(opened, field):
    content = bytearray(package(p("The bank failed.")))
    content[content.index(b"PK\x01\x02") + field] = 98
    content[8] = content[content.index(b"PK\x01\x02") + 10]  # the part's own header names the same compression
    with pytest.raises(ReadError, match="compressed in a way that longmatch does not read"):
        opened("a.docx", bytes(content))


@pytest.mark.parametrize("compression", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_compression_that_unpacks_without_a_bound_is_refused(opened, compression):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", compression) as file:
        file.writestr("word/document.xml", part("document", p("The bank failed.")))
    with pytest.raises(ReadError, match="compressed in a way that longmatch does not read"):
        opened("a.docx", made.getvalue())


def test_a_part_with_flipped_bytes_is_refused(opened):
    content = bytearray(package(p("Text. " * 500)))
    content[60:70] = b"\xff" * 10
    with pytest.raises(ReadError, match="is damaged"):
        opened("a.docx", bytes(content))


def test_a_part_that_unpacks_to_a_huge_size_is_refused(opened):
    bomb = zipped("word/document.xml", b" " * (archive.LARGEST_MEMBER + 1))
    assert len(bomb) < 200_000
    with pytest.raises(ReadError, match="unpacks to a huge size"):
        opened("a.docx", bomb)


PROSE = "The tide decides when the ferries sail, and the office can only write it down."


def outlined(body: str, tmp_path: Path) -> list[tuple[int, str]]:
    (tmp_path / "a.docx").write_bytes(package(body))
    return [(level, heading) for level, heading, _ in outline(read(tmp_path / "a.docx")) if heading]


def test_chapters_in_the_title_style_are_headings(tmp_path):
    chapters = ["The Harbour", "4-4-0", "The Last Crossing"]
    body = p("The Ferry Line", "Title") + "".join(p(chapter, "Title") + p(PROSE) for chapter in chapters)
    assert outlined(body, tmp_path) == [(1, chapter) for chapter in chapters]
    assert read(tmp_path / "a.docx").title == "The Ferry Line"


@pytest.mark.parametrize("run", ["<w:b/>", '<w:sz w:val="32"/>', "<w:i/>"])
def test_lines_set_apart_are_headings_where_no_style_is(tmp_path, run):
    body = p(PROSE) + "".join(p(name, run=run) + p(PROSE) for name in ("The tides", "The boats"))
    assert outlined(body, tmp_path) == [(1, "The tides"), (1, "The boats")]


def test_numbered_lines_are_headings_where_nothing_is_set_apart(tmp_path):
    body = p(PROSE) + "".join(p(name) + p(PROSE) for name in ("1. Tides", "1.1 Spring tides", "9. BOATS"))
    assert outlined(body, tmp_path) == [(1, "1. Tides"), (2, "1.1 Spring tides"), (1, "9. BOATS")]


def test_a_bold_schedule_above_its_first_bold_clause_is_a_heading(tmp_path):
    body = p(PROSE) + p("Schedule 1 The Quay", run="<w:b/>") + p("1. The Wall", run="<w:b/>") + p(PROSE)
    assert outlined(body, tmp_path) == [(1, "Schedule 1 The Quay"), (1, "1. The Wall")]


def test_a_list_of_short_numbered_lines_gives_no_headings(tmp_path):
    body = p(PROSE) + p("1. Apples") + p("2. Pears") + p("3. Plums") + p(PROSE)
    assert outlined(body, tmp_path) == []
