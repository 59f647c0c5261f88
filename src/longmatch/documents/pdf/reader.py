"""Read a PDF: fragments, furniture, columns, blocks, headings, kinds, reflowed paragraphs, and finally a draft."""

import re
import warnings
from collections import Counter
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2 as pdfium

from longmatch.documents import ocr
from longmatch.documents.draft import Draft
from longmatch.documents.pdf import block_kinds, scans
from longmatch.documents.pdf.blocks import LIST_ITEM, Body, LayoutBlock, ends_sentence, make_blocks
from longmatch.documents.pdf.columns import ColumnReader, usual_gutters
from longmatch.documents.pdf.fragments import Fragment, read_fragments
from longmatch.documents.pdf.furniture import without_furniture
from longmatch.documents.pdf.headings import mark_headings, normalise
from longmatch.documents.pdf.lines import Line
from longmatch.documents.pdf.metadata import pdf_metadata
from longmatch.documents.pdf.picture import open_pdf
from longmatch.errors import ReadError

_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_HYPHENATED_END = re.compile(r"(?<![^\W\d_])(?<![^\W\d_]-)([^\W\d_]++(?:-[^\W\d_]++)*+)-$")
_WORD_START = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_IDEOGRAPHIC = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")
_OPEN_END = re.compile(r"[,\-–—]$|\b(?:the|of|and|a|an|in|to|for|with|by|on|is|are|that|as|or)$", re.IGNORECASE)
_MAX_INTERRUPTIONS = 3  # blocks between the halves of a hyphenated word
MOST_PIXELS = 150_000_000  # of a frame: A4 at 1,200 dots per inch
_POINTS = 842  # what the longer side of a picture is taken for: A4
_RUN_IN_ABSTRACT = re.compile(r"(abstract)\s*[—–:.-]+\s*(?=\S)", re.IGNORECASE)

WordCounts = Counter[str]  # of the document: they show whether a hyphen at the end of a line belongs to the word


def drops_hyphen(left: str, right: str, words: WordCounts) -> bool:
    """Whether the two halves of a word are joined without the hyphen between them.

    >>> [drops_hyphen(*pair, WordCounts()) for pair in [("docu", "ments"), ("EMBED", "DINGS")]]
    [True, True]
    >>> [drops_hyphen(*pair, WordCounts()) for pair in [("Ku", "Klux"), ("state-of-the", "art")]]
    [False, False]
    """
    joined, hyphenated = (left + right).casefold(), f"{left}-{right}".casefold()
    if words[joined] != words[hyphenated]:
        return words[joined] > words[hyphenated]
    one_case = right[:1].islower() or (left.isupper() and right.isupper())
    if not one_case or "-" in left:
        return False
    halves_are_words = words[left.casefold()] and words[right.casefold()]
    return not (halves_are_words and len(left) > 2 and len(right) > 2)


def join(before: str, after: str, words: WordCounts) -> str:
    """Join two texts, the second of which begins on a new line; Chinese characters are joined without a blank.

    >>> join("long docu-", "ments", WordCounts()), join("很长的", "文件", WordCounts())
    ('long documents', '很长的文件')
    """
    if not before or not after:
        return before or after
    left = _HYPHENATED_END.search(before, before.rfind(" ") + 1) if before.endswith("-") else None
    right = _WORD_START.match(after) if left else None
    if left and right:
        return (before[:-1] if drops_hyphen(left[1], right[0], words) else before) + after
    if before.endswith(("-", "/")) and not before.endswith((" -", "--")):
        return before + after
    if _IDEOGRAPHIC.match(before[-1]) and _IDEOGRAPHIC.match(after[0]):
        return before + after
    return f"{before} {after}"


def join_continued(blocks: list[LayoutBlock], body: Body) -> list[LayoutBlock]:
    """Append to each paragraph the block that continues it; blocks in between follow the paragraph."""
    result: list[LayoutBlock] = []
    open_block: LayoutBlock | None = None
    interruptions = 0  # text blocks since a paragraph that ends in half a word
    for block in blocks:
        if block.kind == "heading":
            open_block = None
        elif block.kind == "text":
            if open_block is not None and _continues(open_block.last, block.first, body):
                open_block.lines += block.lines
                continue
            if open_block is not None and open_block.last.text.endswith("-") and interruptions < _MAX_INTERRUPTIONS:
                interruptions += 1
            else:
                open_block, interruptions = block, 0
        result.append(block)
    return result


def _continues(last: Line, first: Line, body: Body) -> bool:
    """Whether the first line of a block continues the paragraph whose last line is given."""
    if LIST_ITEM.match(first.text) and not _OPEN_END.search(last.text[-8:]):
        return False
    if abs(last.size - first.size) > 0.07 * body.size or last.bold != first.bold:
        return first.text[:1].islower() and not ends_sentence(last.text) and last.column == first.column
    if first.text[:1].islower() and (not ends_sentence(last.text) or last.text.endswith((":", ";"))):
        return True
    if last.text.endswith("-") and last.text[-2:-1].isalpha():
        return False  # the other half of a word begins with a lower-case letter
    if _OPEN_END.search(last.text[-8:]):
        return True
    if ends_sentence(last.text) or last.column == first.column:
        return False
    full = last.x1 > last.right - 2 * last.size
    indented = first.x0 > first.left + 0.7 * first.size
    return full and not indented


def read_pdf(path: Path) -> Draft:
    """Read the text of a PDF with its headings and kinds of paragraphs, in reading order."""
    pages: list[list[Fragment]] = []
    scanned: list[int] = []  # pages without text that show a picture
    remarks: list[str] = []
    bookmarks: set[str] = set()
    info: dict[str, str] = {}
    first_page = ""
    with open_pdf(path) as document:
        for number in range(1, len(document) + 1):
            pages.append([])
            try:
                page = document[number - 1]
            except pdfium.PdfiumError:
                remarks.append(f"{path}: page {number} is damaged and was skipped.")
                continue
            with closing(page), closing(page.get_textpage()) as textpage:
                pages[-1] = read_fragments(textpage)
                first_page = textpage.get_text_range() if number == 1 else first_page
                if not pages[-1] and any(page.get_objects(filter=[pdfium.raw.FPDF_PAGEOBJ_IMAGE])):
                    scanned.append(number)
        for bookmark in document.get_toc():
            with suppress(UnicodeDecodeError):  # half a character
                bookmarks.add(normalise(str(bookmark.get_title())))
        with suppress(UnicodeDecodeError):
            info = dict(document.get_metadata_dict(skip_empty=True))
        metadata = pdf_metadata(path, info, first_page)
    with_ocr = bool(scanned) and ocr.is_available()
    if with_ocr:
        recognised = scans.read_scanned(path, scanned)
        for number, fragments in zip(scanned, scans.scanned_fragments(recognised), strict=True):
            pages[number - 1] = fragments
        metadata |= scans.scan_metadata(recognised)
        remarks += scans.remarks_on(path, recognised)
    elif scanned:
        install = f"Install OCR to include them: {ocr.INSTALL}."
        remarks.append(f"{path}: no text on {scans.named_pages(scanned)} (scanned?). {install}")
    if not any(pages):
        raise scans.no_text(path, with_ocr)
    draft = draft_pages(pages, bookmarks - {""}, metadata)
    draft.remarks = remarks
    return draft


def draft_pages(pages: list[list[Fragment]], bookmarks: set[str], metadata: dict[str, Any]) -> Draft:
    """The draft of a document from the fragments of its pages, at least one of which has some."""
    cleaned = without_furniture(pages)
    pages = cleaned if any(cleaned) else pages
    reader = ColumnReader(usual_gutters(pages))
    lines = [line for number, fragments in enumerate(pages, 1) for line in reader.lines(fragments, number)]
    body, words = Body.of(lines), _count_words(lines)
    blocks = block_kinds.mark_captions_and_tables(make_blocks(lines, body), body)
    blocks = mark_headings(blocks, body, bookmarks)
    blocks = block_kinds.mark_references(block_kinds.mark_footnotes(blocks, body))
    block_kinds.mark_code(blocks)
    draft = Draft(metadata=metadata)
    for block in join_continued(blocks, body):
        _add(draft, block, words)
    if not draft.blocks:
        draft.paragraph(draft.title)  # a page with only a title
    return draft


def _count_words(lines: Iterable[Line]) -> WordCounts:
    counted: list[str] = []
    for line in lines:
        words = _WORD.findall(line.text.casefold())
        counted += words if len(words) == 1 else words[1:-1]  # the first and the last may be incomplete
    return WordCounts(counted)


def _add(draft: Draft, block: LayoutBlock, words: WordCounts) -> None:
    page = block.first.page
    if block.kind in ("table", "contents", "code"):
        text = "\n".join(line.text for line in block.lines)
        draft.paragraph(text, "code" if block.kind == "code" else "table", page)
        return
    text, breaks = block.text, []  # and where in it further pages begin: character, page
    current = page
    for line in () if text else block.lines:
        added = " ".join(line.text.split())
        text = join(text, added, words)
        if line.page != current:
            current = line.page
            breaks.append((len(text) - len(added), current))
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


def read_image(path: Path) -> Draft:
    """Read a picture of a page, or all pages of a TIFF file."""
    if not ocr.is_available():
        raise ReadError(path, "is a picture", f"Install OCR to read the text in it: {ocr.INSTALL}.")
    from PIL import Image, ImageOps, UnidentifiedImageError

    def pixels(number: int) -> tuple[ocr.Pixels, float]:
        """A frame, turned as its camera says, made smaller if it is large, and its pixels per point."""
        image.seek(number - 1)
        if image.width * image.height > MOST_PIXELS:
            raise ReadError(path, f"is too large at page {number}", "Make it smaller.")
        frame = ImageOps.exif_transpose(image).convert("RGB")
        frame.thumbnail((ocr.LONGEST_SIDE, ocr.LONGEST_SIDE))
        return np.array(frame), max(frame.size) / _POINTS

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # its limit is lower than ours
            opened = Image.open(path)
        with opened as image:
            if image.width * image.height > MOST_PIXELS:
                raise ReadError(path, f"is too large ({image.width:,} x {image.height:,} pixels)", "Make it smaller.")
            pages = scans.recognise_pages(range(1, getattr(image, "n_frames", 1) + 1), pixels)
    except Image.DecompressionBombError as error:  # at twice that limit, before the size is known here
        raise ReadError(path, f"is too large (over {MOST_PIXELS:,} pixels)", "Make it smaller.") from error
    except (OSError, ValueError, SyntaxError, UnidentifiedImageError) as error:
        raise ReadError(path, "is damaged, or no picture", "Get a fresh copy.") from error
    fragments = scans.scanned_fragments(pages)
    if not any(fragments):
        raise scans.no_text(path, ocr_tried=True)
    draft = draft_pages(fragments, set(), scans.scan_metadata(pages))
    draft.remarks = scans.remarks_on(path, pages)
    return draft
