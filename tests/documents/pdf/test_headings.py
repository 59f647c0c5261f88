"""Headings of PDFs written line by line: what distinguishes them from lists, and what must not hide them."""

from pathlib import Path

import pytest
from benchmarks.written.formats import PdfWriter
from benchmarks.written.prose import Prose

from longmatch.documents import Document, read
from longmatch.documents.pdf.numbering import Number, consistent

Lines = list[tuple[str, str, float]]  # text, font, size

BOLD, ROMAN = "Times-Bold", "Times-Roman"


@pytest.fixture
def written(tmp_path: Path):
    def write(lines: Lines, close: bool = False) -> Document:
        pdf = PdfWriter()
        for text, font, size in lines:
            pdf.paragraph(text, font, size, gap=0.0 if close else 0.8)
        pdf.save(tmp_path / "a.pdf")
        return read(tmp_path / "a.pdf")

    return write


def names(document: Document) -> list[str]:
    return [section.heading for section in document.sections if section.heading]


def with_text(headings: list[tuple[str, float]], words: int = 80) -> Lines:
    prose = Prose(1)
    return [line for name, size in headings for line in ((name, BOLD, size), (prose.paragraph(words), ROMAN, 11.0))]


@pytest.mark.parametrize("after", [12, 40])
def test_a_gap_in_the_numbering_loses_no_heading(written, after):
    clauses = [f"{number}. Clause" for number in (*range(1, 9), after, after + 1)]
    document = written([("The Lease", BOLD, 18.0), *with_text([(clause, 12.0) for clause in clauses])])
    assert names(document) == clauses


def test_a_number_far_from_the_others_at_the_end_is_no_heading():
    numbers = [Number("arabic", (part,), 2) for part in (1, 2, 3, 64)]
    assert consistent(numbers, [1.0] * 4) == [True, True, True, False]


def test_chapters_in_the_size_of_the_title_are_headings(written):
    chapters = ["The Harbour", "A Letter", "4-4-0", "The Last Crossing"]
    lines = with_text([(chapter, 18.0) for chapter in chapters])
    document = written([("The Ferry Line", BOLD, 18.0), ("by a clerk at the station", ROMAN, 11.0), *lines])
    assert (document.title, names(document)) == ("The Ferry Line", chapters)


def test_a_book_without_a_title_begins_with_its_first_chapter(written):
    chapters = ["The Harbour", "Rails and Rivers", "The Last Crossing"]
    document = written(with_text([(chapter, 18.0) for chapter in chapters]))
    assert (document.title, names(document)) == ("The Harbour", chapters)


def test_a_large_unnumbered_chapter_stands_above_small_numbered_sections(written):
    headings = [("Water", 18.0), ("1. Wells", 11.0), ("2. Rain", 11.0), ("Fire", 18.0), ("3. Coal", 11.0)]
    document = written([("On Boilers", BOLD, 24.0), *with_text(headings)])
    assert names(document) == [name for name, _ in headings]


@pytest.mark.parametrize("item", ["2. Subjective words (Positive words,", "2. Subjective words (positive or"])
def test_the_bold_first_line_of_a_list_item_is_no_heading(written, item):
    lines = with_text([("1. Data", 11.0), (item, 11.0), ("3. Results", 11.0), ("4. Costs", 11.0)])
    assert names(written([("On Words", BOLD, 18.0), *lines])) == ["1. Data", "3. Results", "4. Costs"]


def test_bold_items_between_sections_that_count_on_are_no_headings(written):
    names_ = ["1. Data", "2. Boats", "1. Late", "2. Full", "3. Empty", "3. Results", "4. Costs"]
    document = written([("On Boats", BOLD, 18.0), *with_text([(name, 11.0) for name in names_])])
    assert names(document) == ["1. Data", "2. Boats", "3. Results", "4. Costs"]


def test_a_title_in_small_capitals_broken_within_a_word_is_whole(written):
    prose = Prose(2).paragraph()
    title = [("LEARNING SEMANTIC EMBED-", BOLD, 18.0), ("DINGS", BOLD, 14.4)]
    document = written([*title, (prose, ROMAN, 11.0), (prose, ROMAN, 11.0)], close=True)
    assert document.title == "LEARNING SEMANTIC EMBEDDINGS"


def test_an_abstract_directly_below_a_line_of_its_style_is_a_heading(written):
    prose = Prose(3).paragraph()
    label = [("Anonymous submission", BOLD, 12.0), ("Abstract", BOLD, 12.0), (prose, ROMAN, 11.0)]
    document = written([("On Boats", BOLD, 18.0), *label], close=True)
    [abstract] = [section for section in document.sections if section.heading == "Abstract"]
    assert abstract.paragraphs[0].of(document.text) == prose
    assert "submission" not in abstract.heading
