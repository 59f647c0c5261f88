"""PPTX: one file made by an office suite, the rest written part by part."""

from pathlib import Path

import pytest

from longmatch.documents import read
from longmatch.errors import ReadError
from tests.documents.packed import pptx, shape, zipped
from tests.documents.shapes import kinds, outline

SLIDES = Path(__file__).parent / "files" / "slides.pptx"


def test_an_office_suites_slides_are_sections_with_tables_and_notes():
    document = read(SLIDES)
    assert document.title == "Ferries in 2019" and document.metadata == {"author": "Jane Doe", "year": 2019}
    assert outline(document) == [
        (1, "Ferries run late", ["A talk about tides"]),
        (
            1,
            "The numbers",
            ["The tide decides.", "Wind matters less.", "month | delay\nMay | 7 min", "Mention the harbour."],
        ),
    ]
    assert [kind for kind, _ in kinds(document)] == ["text", "text", "text", "table", "footnote"]


def test_slides_keep_their_order_and_number_and_furniture_is_left_out(opened):
    first = (
        shape("Text first.", "body") + shape("On rain", "title") + shape("Confidential", "ftr") + shape("1", "sldNum")
    )
    document = opened("a.pptx", pptx(first, shape("No title here."), notes={2: "Say it slowly."}))
    assert outline(document) == [(1, "On rain", ["Text first.", "No title here.", "Say it slowly."])]
    assert [p.page for p in document.paragraphs] == [1, 2, 2]


def test_shapes_in_groups_are_read_and_those_given_twice_once(opened):
    inner = shape("Grouped.")
    both = (
        f"<mc:AlternateContent><mc:Choice>{inner}</mc:Choice><mc:Fallback>{inner}</mc:Fallback></mc:AlternateContent>"
    )
    assert kinds(opened("a.pptx", pptx(f"<p:grpSp>{both}</p:grpSp>"))) == [("text", "Grouped.")]


def test_a_title_that_the_program_made_up_is_not_taken(opened):
    core = "<dc:title>PowerPoint Presentation</dc:title><dc:creator>Steve Canny</dc:creator>" + (
        "<dcterms:created>2013-01-27T09:14:16Z</dcterms:created>"
    )
    document = opened("a.pptx", pptx(shape("On rain", "ctrTitle") + shape("It falls."), core=core))
    assert document.title == "On rain" and document.metadata == {}


def test_what_is_no_pptx_is_refused(opened):
    with pytest.raises(ReadError, match="is a zip file but not a PPTX file"):
        opened("a.pptx", zipped({"a.txt": "hello"}))
    with pytest.raises(ReadError, match=r"is encrypted, or an old \.ppt file"):
        opened("a.pptx", b"\xd0\xcf\x11\xe0" + b"x" * 100)
