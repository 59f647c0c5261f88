"""Save a written document as TXT, DOCX or PDF."""

import ctypes
import zipfile
from collections.abc import Callable
from pathlib import Path
from textwrap import wrap
from typing import Any
from xml.sax.saxutils import escape

from benchmarks.written.documents import WrittenDocument

_NAMESPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_TITLE, _HEADING, _BODY = 18.0, 13.0, 11.0  # points
_PDF_STYLES = {  # font and size of a heading's style, or of a part's role
    "title": ("Times-Bold", _TITLE),
    "bold": ("Times-Bold", _HEADING),
    "capitals": ("Times-Roman", _BODY),
    "italic": ("Times-Italic", _BODY),
    "label": ("Times-Bold", _HEADING),
    "item": ("Times-Bold", _BODY),
    "text": ("Times-Roman", _BODY),
}


def save_txt(document: WrittenDocument, path: Path) -> None:
    """Plain text, hard-wrapped, with a blank line between paragraphs."""
    text = "\n".join(document.title_lines or wrap(document.title, 60))
    for part in document.parts:
        text += ("\n" if part.close else "\n\n") + "\n".join(wrap(part.text, 78))
    path.write_text(f"{text}\n", encoding="utf-8")


def save_docx(document: WrittenDocument, path: Path) -> None:
    """A DOCX without heading styles: headings are bold, or as large as the title."""
    runs = {"bold": "<w:b/>", "italic": "<w:i/>"}
    body = _paragraph(document.title, title=True)
    for part in document.parts:
        style = part.style if part.role == "heading" else "bold" if part.role == "item" else ""
        body += _paragraph(part.text, runs.get(style, ""), title=style == "title")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        content = f'<w:document xmlns:w="{_NAMESPACE}"><w:body>{body}</w:body></w:document>'
        package.writestr("word/document.xml", content)


def _paragraph(text: str, run: str = "", title: bool = False) -> str:
    style = '<w:pStyle w:val="Title"/>' if title else ""
    return f"<w:p><w:pPr>{style}</w:pPr><w:r><w:rPr>{run}</w:rPr><w:t>{escape(text)}</w:t></w:r></w:p>"


def save_pdf(document: WrittenDocument, path: Path) -> None:
    """A PDF of one column: chapters in the title's size begin a page, other headings are bold."""
    pdf = PdfWriter()
    first, *rest = document.title_lines or (document.title,)
    pdf.paragraph(first, "Times-Bold", _TITLE)
    for line in rest:  # small capitals: the rest of a word is smaller than its beginning
        pdf.paragraph(line, "Times-Bold", 0.8 * _TITLE, gap=0.0)
    for part in document.parts:
        gap = 0.0 if part.close else 0.8
        if part.role == "heading" and part.style == "title":
            pdf.new_page()
        style = part.style if part.role == "heading" else part.role
        pdf.paragraph(part.text, *_PDF_STYLES[style], gap)
    pdf.save(path)


FORMATS: dict[str, Callable[[WrittenDocument, Path], None]] = {"txt": save_txt, "docx": save_docx, "pdf": save_pdf}


class PdfWriter:
    """Writes lines of text in the standard fonts, from the top of the page down."""

    WIDTH, HEIGHT, MARGIN = 595.0, 842.0, 72.0

    def __init__(self) -> None:
        import pypdfium2

        self._pdf = pypdfium2.PdfDocument.new()
        self._page: Any = None
        self._y = 0.0

    def paragraph(self, text: str, font: str, size: float, gap: float = 0.8) -> None:
        """Wrap and write a text, with `gap` ems of white space above it."""
        characters = int((self.WIDTH - 2 * self.MARGIN) / (0.46 * size))
        self._y -= gap * size
        for line in wrap(text, characters):
            self.line(line, font, size)

    def line(self, text: str, font: str, size: float, x: float = MARGIN) -> None:
        """Write a line."""
        if self._page is None or self._y < self.MARGIN + size:
            self.new_page()
        self._y -= 1.2 * size
        self._write(text, font, size, x)

    def new_page(self) -> None:
        """Go on at the top of a new page."""
        self._finish_page()
        self._page = self._pdf.new_page(self.WIDTH, self.HEIGHT)
        self._y = self.HEIGHT - self.MARGIN

    def save(self, path: Path) -> None:
        """Write the file."""
        self._finish_page()
        self._pdf.save(path)
        self._pdf.close()

    def _write(self, text: str, font: str, size: float, x: float) -> None:
        import pypdfium2.raw as pdfium

        item = pdfium.FPDFPageObj_NewTextObj(self._pdf, font.encode(), size)
        units = (text + "\0").encode("utf-16-le")
        pdfium.FPDFText_SetText(item, (ctypes.c_ushort * (len(units) // 2)).from_buffer_copy(units))
        pdfium.FPDFPageObj_Transform(item, 1, 0, 0, 1, x, self._y)
        pdfium.FPDFPage_InsertObject(self._page, item)

    def _finish_page(self) -> None:
        if self._page is not None:
            self._page.gen_content()
            self._page = None
