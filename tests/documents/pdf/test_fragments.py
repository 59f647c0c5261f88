"""Fragments are read by columns of numbers; a plain reading, character by character, must give the same."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdfium2 import PdfDocument

from longmatch.documents.pdf.fragments import Fragment, read_fragments
from tests.documents.pdf.plain_fragments import plain_fragments
from tests.documents.pdf.reading import FIXTURES
from tests.effort import tried

FONTS = ("Helvetica", "Times-Bold", "Times-Italic", "Courier")
# The letters a to h of the last font: Hebrew, ligatures, without a width, hyphens, beyond 16 bits
CODES = ("05D0", "05D1", "FB01", "FB04", "200B", "00AD", "2010", "D835DC9C")


@dataclass(frozen=True)
class Piece:
    """A text object, and where it stands: after the piece before it, raised, or on a line of its own."""

    text: str
    font: int = 0
    size: float = 10.0
    gap: float = 0.0
    rise: float = 0.0
    line: bool = False
    upright: bool = True


def pdf(pieces: Sequence[Piece]) -> bytes:
    """A page with the pieces."""
    mapping = "".join(f"<{ord('a') + n:02x}> <{code}> " for n, code in enumerate(CODES))
    cmap = (
        "/CIDInit /ProcSet findresource begin begincmap /CMapType 2 def\n1 begincodespacerange <00> <ff> "
        f"endcodespacerange\n{len(CODES)} beginbfchar {mapping} endbfchar endcmap end"
    )
    content, x, y = "", 50.0, 700.0
    for piece in pieces:
        if piece.line:
            x, y = 50.0, y - 14
        x += piece.gap
        matrix = f"1 0 0 1 {x} {y + piece.rise}" if piece.upright else f"0 1 -1 0 {x} {y}"
        content += f"BT /F{piece.font} {piece.size} Tf {matrix} Tm ({piece.text}) Tj ET\n"
        x += 0.5 * piece.size * len(piece.text)
    named = (f"<< /Type /Font /Subtype /Type1 /BaseFont /{font} /Encoding /WinAnsiEncoding >>" for font in FONTS)
    odd = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /ToUnicode 5 0 R >>"
    fonts = " ".join(f"/F{number} {font}" for number, font in enumerate((*named, odd)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << {fonts} >> >> >>",
        f"<< /Length {len(content)} >>\nstream\n{content}endstream",
        f"<< /Length {len(cmap)} >>\nstream\n{cmap}\nendstream",
    ]
    file, places = "%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(file))
        file += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = f"trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{len(file)}\n%%EOF"
    return f"{file}xref\n0 {size}\n0000000000 65535 f \n{table}{end}".encode("latin-1")


def read_both(document: PdfDocument, rotation: int | None = None) -> list[tuple[list[Fragment], list[Fragment]]]:
    """The fragments of each page, and those of the plain reading."""
    both = []
    with closing(document):
        for page in document:
            if rotation is not None:
                page.set_rotation(rotation)
            with closing(page), closing(page.get_textpage()) as textpage:
                both.append((read_fragments(textpage), plain_fragments(textpage)))
    return both


@pytest.mark.parametrize("name", ["paper", "report", "patent", "figures", "chinese", "judgment"])
def test_the_fragments_of_a_page_are_those_of_a_plain_reading(name: str):
    for fragments, plain in read_both(PdfDocument(FIXTURES / f"{name}.pdf")):
        assert fragments == plain


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_a_rotated_page_has_the_fragments_of_a_plain_reading(rotation: int):
    for fragments, plain in read_both(PdfDocument(FIXTURES / "paper.pdf"), rotation):
        assert fragments == plain


PIECES = st.builds(
    Piece,
    text=st.text("abcdefgh 12*,.", min_size=1, max_size=24),
    font=st.integers(0, len(FONTS)),
    size=st.sampled_from([6.0, 7.0, 10.0, 10.0, 14.0]),
    gap=st.sampled_from([-40.0, -3.0, -0.5, 0.0, 0.2, 1.0, 3.0, 8.0, 60.0]),
    rise=st.sampled_from([-3.0, 0.0, 0.0, 0.0, 3.0, 4.5]),
    line=st.booleans(),
    upright=st.sampled_from([True] * 9 + [False]),
)


@settings(max_examples=tried(120), deadline=None)
@given(st.lists(PIECES, max_size=30))
def test_any_page_has_the_fragments_of_a_plain_reading(pieces: list[Piece]):
    for fragments, plain in read_both(PdfDocument(pdf(pieces))):
        assert fragments == plain


def test_ligatures_are_spelled_out_and_characters_without_a_width_left_out():
    fragments, _ = read_both(PdfDocument(pdf([Piece("cdefg", font=len(FONTS))])))[0]
    assert [fragment.text for fragment in fragments] == ["fiffl--"]


def test_a_footnote_mark_is_no_part_of_the_sentence_and_begins_a_footnote():
    pieces = [
        Piece("The word"),
        Piece("2", size=6.0, rise=4.0),
        Piece("12", size=6.0, rise=4.0, line=True),
        Piece("Note"),
    ]
    fragments, _ = read_both(PdfDocument(pdf(pieces)))[0]
    assert [(fragment.text, fragment.marked) for fragment in fragments] == [("The word", False), ("12Note", True)]
