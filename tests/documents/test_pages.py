"""Every passage of a PDF knows its page, also where a paragraph runs on to the next."""

from pathlib import Path

import pypdfium2
import pytest
from benchmarks.written.formats import PdfWriter

import longmatch
from longmatch.documents.document import Document, Paragraph, Section, Sentence
from longmatch.web.reading.child import to_json
from longmatch.web.reading.process import from_json

EXAMPLES = Path(__file__).parents[2] / "examples" / "collection"


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def pages_of(path: Path) -> list[str]:
    with pypdfium2.PdfDocument(path) as pdf:
        return [letters(page.get_textpage().get_text_range()) for page in pdf]


@pytest.fixture(scope="module")
def long_paragraph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One paragraph of numbered sentences over three pages."""
    path = tmp_path_factory.mktemp("pages") / "long.pdf"
    writer = PdfWriter()
    sentences = (f"Sentence {n} says that the river number {n} rose by {n} feet in the night." for n in range(120))
    writer.paragraph(" ".join(sentences), "Times-Roman", 12)
    writer.save(path)
    return path


def test_the_sentences_of_a_paragraph_over_three_pages_know_theirs(long_paragraph):
    document, pages = longmatch.read(long_paragraph), pages_of(long_paragraph)
    assert len(pages) == 3 and document.page_breaks
    found = [document.page_at(sentence.start) for sentence in document.sentences]
    assert set(found) == {1, 2, 3}
    for sentence, page in zip(document.sentences, found, strict=True):
        assert letters(sentence.of(document.text))[:20] in pages[page - 1]


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.pdf")), ids=lambda path: path.stem)
def test_every_sentence_begins_on_its_page(path):
    document, pages = longmatch.read(path), pages_of(path)
    places = [(letters(s.of(document.text))[:15], document.page_at(s.start)) for s in document.sentences]
    elsewhere = [start for start, page in places if not page or start not in pages[page - 1]]
    assert len(elsewhere) <= 1  # a running head may stand in the file between the first words of a sentence
    assert len({page for _, page in places}) == len(pages)


def test_slides_are_pages_and_text_has_none():
    paragraphs = (Paragraph(0, 3, (Sentence(0, 3),), page=4), Paragraph(5, 8, (Sentence(5, 8),), page=6))
    slides = Document("a", "a", "one\n\ntwo", (Section(0, 8, paragraphs=paragraphs),))
    assert [slides.page_at(place) for place in (0, 2, 5, 7)] == [4, 4, 6, 6]
    assert longmatch.read(EXAMPLES / "the-stream-that-turned.md").page_at(500) is None


def test_pages_survive_the_way_from_the_process_that_reads_uploads(long_paragraph):
    document = longmatch.read(long_paragraph)
    assert from_json(to_json(document)).page_breaks == document.page_breaks != ()
