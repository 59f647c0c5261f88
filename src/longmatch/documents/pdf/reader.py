"""Read a PDF: fragments, furniture, columns, blocks, headings, kinds, and finally a draft."""

import re
from pathlib import Path
from typing import Any

from longmatch.documents import ocr
from longmatch.documents.draft import Draft
from longmatch.documents.pdf.block_kinds import (
    mark_captions_and_tables,
    mark_code,
    mark_footnotes,
    mark_references,
)
from longmatch.documents.pdf.blocks import Body, LayoutBlock, make_blocks
from longmatch.documents.pdf.columns import ColumnReader, usual_gutters
from longmatch.documents.pdf.fragments import Fragment, read_fragments
from longmatch.documents.pdf.furniture import without_furniture
from longmatch.documents.pdf.heading_candidates import normalise
from longmatch.documents.pdf.headings import mark_headings
from longmatch.documents.pdf.lines import Line
from longmatch.documents.pdf.metadata import first_page_text, pdf_metadata
from longmatch.documents.pdf.opening import open_pdf
from longmatch.documents.pdf.reflow import Vocabulary, join_continued, join_pages
from longmatch.documents.pdf.scans import (
    has_image,
    named_pages,
    no_text,
    read_scanned,
    remarks_on,
    scan_metadata,
    scanned_fragments,
)

_RUN_IN_ABSTRACT = re.compile(r"(abstract)\s*[—–:.-]+\s*(?=\S)", re.IGNORECASE)


def read_pdf(path: Path) -> Draft:
    """Read the text of a PDF with its headings and kinds of paragraphs, in reading order."""
    with open_pdf(path) as document:
        found = [_page_fragments(document, index) for index in range(len(document))]
        remarks = [f"{path}: page {n} is damaged and was skipped." for n, page in enumerate(found, 1) if page is None]
        pages = [page or [] for page in found]
        scanned = [number for number, page in enumerate(pages, 1) if not page and has_image(document, number - 1)]
        bookmarks = _bookmarks(document)
        metadata = pdf_metadata(path, _stated_metadata(document), first_page_text(document))
    with_ocr = bool(scanned) and ocr.is_available()
    if with_ocr:
        recognised = read_scanned(path, scanned)
        for number, fragments in zip(scanned, scanned_fragments(recognised), strict=True):
            pages[number - 1] = fragments
        metadata |= scan_metadata(recognised)
    if not any(pages):
        raise no_text(path, with_ocr)
    if with_ocr:
        remarks += remarks_on(path, recognised)
    elif scanned:
        install = f"Install OCR to include them: {ocr.INSTALL}."
        remarks.append(f"{path}: no text on {named_pages(scanned)} (scanned?). {install}")
    draft = draft_pages(pages, bookmarks, metadata)
    draft.remarks = remarks
    return draft


def draft_pages(pages: list[list[Fragment]], bookmarks: frozenset[str], metadata: dict[str, Any]) -> Draft:
    """The draft of a document from the fragments of its pages, at least one of which has some."""
    cleaned = without_furniture(pages)
    pages = cleaned if any(cleaned) else pages
    reader = ColumnReader(usual_gutters(pages))
    lines = [line for number, fragments in enumerate(pages, 1) for line in reader.lines(fragments, number)]
    return _draft(lines, bookmarks, metadata)


def _page_fragments(document: Any, index: int) -> list[Fragment] | None:
    """The fragments of a page; None if it is damaged."""
    import pypdfium2 as pdfium

    try:
        page = document[index]
    except pdfium.PdfiumError:
        return None
    try:
        return read_fragments(page)
    finally:
        page.close()


def _stated_metadata(document: Any) -> dict[str, str]:
    try:
        return dict(document.get_metadata_dict(skip_empty=True))
    except UnicodeDecodeError:  # half a character
        return {}


def _bookmarks(document: Any) -> frozenset[str]:
    return frozenset(normalise(_bookmark_title(bookmark)) for bookmark in document.get_toc()) - {""}


def _bookmark_title(bookmark: Any) -> str:
    try:
        return str(bookmark.get_title())
    except UnicodeDecodeError:  # half a character
        return ""


def _draft(lines: list[Line], bookmarks: frozenset[str], metadata: dict[str, Any]) -> Draft:
    body, vocabulary = Body.of(lines), Vocabulary(lines)
    blocks = mark_captions_and_tables(make_blocks(lines, body), body)
    blocks = mark_headings(blocks, body, bookmarks)
    blocks = mark_references(mark_footnotes(blocks, body))
    mark_code(blocks)
    draft = Draft(metadata=metadata)
    for block in join_continued(blocks, body):
        _add(draft, block, vocabulary)
    if not draft.blocks:
        draft.paragraph(draft.title)  # a page with only a title
    return draft


def _add(draft: Draft, block: LayoutBlock, vocabulary: Vocabulary) -> None:
    page = block.first.page
    if block.kind in ("table", "contents", "code"):
        text = "\n".join(line.text for line in block.lines)
        draft.paragraph(text, "code" if block.kind == "code" else "table", page)
        return
    text, breaks = (block.text, []) if block.text else join_pages(block.lines, vocabulary)
    if block.kind == "title":
        draft.title = draft.title or text
    elif block.kind == "heading":
        draft.heading(text, block.level, page)
    elif abstract := _RUN_IN_ABSTRACT.match(text):
        draft.heading(abstract[1].capitalize(), 1, page)
        cut = abstract.end()
        draft.paragraph(text[cut:], "text", page, [(place - cut, number) for place, number in breaks])
    elif block.kind != "contents":
        draft.paragraph(text, block.kind, page, breaks)
