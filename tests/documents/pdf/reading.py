"""The fixtures, read once, and what the tests ask of them."""

from functools import cache
from pathlib import Path

from benchmarks.written.scanning import save_scan
from pypdfium2 import PdfDocument

from longmatch.documents.document import Document
from longmatch.documents.pdf.reader import read_pdf

FIXTURES = Path(__file__).parent / "fixtures"


@cache
def document(name: str) -> Document:
    return read_pdf(FIXTURES / f"{name}.pdf").document(name)


def headings(name: str) -> list[tuple[int, str]]:
    return [(section.level, section.heading) for section in document(name).sections if section.heading]


def texts(name: str, kind: str) -> list[str]:
    found = document(name)
    return [paragraph.of(found.text) for paragraph in found.paragraphs if paragraph.kind == kind]


def sentences(name: str) -> list[str]:
    found = document(name)
    return [sentence.of(found.text) for sentence in found.sentences]


def blank_scan(path: Path) -> Path:
    """A small page that is a picture of nothing."""
    blank = path.with_name("no-text.pdf")
    with PdfDocument.new() as pdf:
        pdf.new_page(100, 100).close()
        pdf.save(blank)
    save_scan(blank, path)
    blank.unlink()
    return path
