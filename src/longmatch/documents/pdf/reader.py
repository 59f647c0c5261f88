"""Reading a PDF: pieces, furniture, columns, blocks, headings, kinds, and at last a draft."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from longmatch.documents.draft import Draft
from longmatch.documents.pdf.blocks import Block, Body, make_blocks
from longmatch.documents.pdf.columns import ColumnReader, usual_gutters
from longmatch.documents.pdf.furniture import without_furniture
from longmatch.documents.pdf.headings import mark_headings, plain
from longmatch.documents.pdf.joining import Vocabulary, join_lines
from longmatch.documents.pdf.kinds import mark_code, mark_footnotes, mark_plain_kinds, mark_references
from longmatch.documents.pdf.lines import Line
from longmatch.documents.pdf.paragraphs import join_continued
from longmatch.documents.pdf.pieces import Piece, read_pieces
from longmatch.errors import ReadError

_RUN_IN_ABSTRACT = re.compile(r"(abstract)\s*[—–:.-]+\s*(?=\S)", re.IGNORECASE)
_ADVICE = "Get a fresh copy of it, or pass --skip-unreadable to leave such files out."


def read_pdf(path: Path) -> Draft:
    """The text of a PDF with its headings and kinds of paragraphs, in reading order."""
    with _opened(path) as document:
        pages = [_page_pieces(document, index) for index in range(len(document))]
        bookmarks = _bookmarks(document)
        metadata = document.get_metadata_dict(skip_empty=True)
    if not any(pages):
        raise ReadError(
            path,
            "holds no text (it may be a scan)",
            "Run OCR first, or pass --skip-unreadable to leave such files out.",
        )
    cleaned = without_furniture(pages)
    pages = cleaned if any(cleaned) else pages
    reader = ColumnReader(usual_gutters(pages))
    lines = [line for number, pieces in enumerate(pages, 1) for line in reader.lines(pieces, number)]
    return _draft(lines, bookmarks, metadata)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    import pypdfium2 as pdfium

    if not path.is_file():
        raise ReadError(path, "does not exist", "Check the name.")
    with path.open("rb") as file:
        if b"%PDF-" not in file.read(1024):
            raise ReadError(path, "is not a PDF", "Give it the ending of what it is, or get a fresh copy of it.")
    try:
        document = pdfium.PdfDocument(path)
    except pdfium.PdfiumError as error:
        if "password" in str(error).casefold():
            raise ReadError(
                path, "needs a password", "Save a copy without one, or pass --skip-unreadable to leave such files out."
            ) from None
        raise ReadError(path, "is damaged", _ADVICE) from None
    try:
        if not len(document):
            raise ReadError(path, "is damaged", _ADVICE)
        yield document
    finally:
        document.close()


def _page_pieces(document: Any, index: int) -> list[Piece]:
    import pypdfium2 as pdfium

    try:
        page = document[index]
    except pdfium.PdfiumError:
        return []
    try:
        return read_pieces(page)
    finally:
        page.close()


def _bookmarks(document: Any) -> frozenset[str]:
    return frozenset(plain(bookmark.get_title()) for bookmark in document.get_toc()) - {""}


def _draft(lines: list[Line], bookmarks: frozenset[str], metadata: dict[str, str]) -> Draft:
    body, words = Body.of(lines), Vocabulary(lines)
    blocks = mark_plain_kinds(make_blocks(lines, body), body)
    mark_headings(blocks, body, bookmarks)
    mark_footnotes(blocks, body)
    blocks = mark_references(blocks)
    mark_code(blocks)
    draft = Draft(metadata=metadata)
    for block in join_continued(blocks, body):
        _add(draft, block, words)
    return draft


def _add(draft: Draft, block: Block, words: Vocabulary) -> None:
    page = block.first.page
    if block.kind in ("table", "contents", "code"):
        text = "\n".join(line.text for line in block.lines)
        draft.paragraph(text, "code" if block.kind == "code" else "table", page)
        return
    text = join_lines(block.lines, words)
    if block.kind == "title":
        draft.title = draft.title or text
    elif block.kind == "heading":
        draft.heading(text, block.level, page)
    elif found := _RUN_IN_ABSTRACT.match(text):
        draft.heading(found[1].capitalize(), 1, page)
        draft.paragraph(text[found.end() :], "text", page)
    else:
        draft.paragraph(text, block.kind, page)
