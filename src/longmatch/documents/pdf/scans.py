"""Pages that are pictures: a document may be scanned in part."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from longmatch.documents import ocr
from longmatch.documents.pdf.fragments import Fragment, is_prose
from longmatch.documents.pdf.picture import draw, open_page, open_pdf
from longmatch.errors import ReadError

UNSURE = 0.8  # confidence below which a page is named
_EM = 1.15  # height of a line's box, in ems
_BOLD = 1.4  # times the usual breadth of strokes
_SAME_SIZE = 0.2  # lines whose sizes differ by less are set in one size: boxes vary with the letters in them


@dataclass(frozen=True)
class ScannedPage:
    """What OCR found on a page."""

    number: int
    lines: Sequence[ocr.OcrLine]
    scale: float  # pixels per point


def read_scanned(path: Path, numbers: Sequence[int]) -> list[ScannedPage]:
    """Read pages of a PDF by OCR; other PDFs can be read meanwhile."""

    def pixels(number: int) -> tuple[ocr.Pixels, float]:
        with open_pdf(path) as document, closing(open_page(document, number, path)) as page:
            drawn = draw(page, ocr.LONGEST_SIDE)[0]
            return drawn, max(drawn.shape[:2]) / max(*page.get_size(), 1.0)

    return recognise_pages(numbers, pixels)


def recognise_pages(numbers: Sequence[int], pixels: Callable[[int], tuple[ocr.Pixels, float]]) -> list[ScannedPage]:
    """Read pages by OCR; `pixels` draws one, and says how many pixels it has per point."""
    pages = []
    ocr.report_page(0, len(numbers))
    for done, number in enumerate(numbers, 1):
        drawn, scale = pixels(number)
        pages.append(ScannedPage(number, ocr.recognise(drawn), scale))
        ocr.report_page(done, len(numbers))
    return pages


def scan_metadata(pages: Sequence[ScannedPage]) -> dict[str, Any]:
    """How many pages were read by OCR, and how sure it is of them."""
    sure = ocr.confidence_of([line for page in pages for line in page.lines])
    return {"ocr_pages": len(pages), "ocr_confidence": round(sure, 3)} if pages else {}


def remarks_on(path: Path, pages: Sequence[ScannedPage]) -> list[str]:
    """Name the pages that OCR could not read, or not surely."""
    empty = [page.number for page in pages if not page.lines]
    unsure = [page.number for page in pages if page.lines and ocr.confidence_of(page.lines) < UNSURE]
    said = [f"{path}: OCR found no text on {named_pages(empty)}."] if empty else []
    if unsure:
        said.append(f"{path}: OCR is not sure of {named_pages(unsure)}; compare what was read with the scan.")
    return said


def scanned_fragments(pages: Sequence[ScannedPage]) -> list[list[Fragment]]:
    """The lines of each scanned page as fragments; those of about the usual size have that size."""
    fragments: list[list[Fragment]] = [[] for _ in pages]
    lines = [(line, page.scale) for page in pages for line in page.lines]
    if not lines:
        return fragments
    lengths = [len(line.text) for line, _ in lines]
    usual = ocr.weighted_median([_size(line, scale) for line, scale in lines], lengths)
    usual_stroke = ocr.weighted_median([_relative_stroke(line) for line, _ in lines], lengths)
    for page, own in zip(pages, fragments, strict=True):
        scale = page.scale
        for line in page.lines:
            ratio = _size(line, scale) / usual
            size = usual if abs(ratio - 1) < _SAME_SIZE else usual * round(ratio, 1)
            bold = _relative_stroke(line) > _BOLD * usual_stroke > 0
            text = " ".join(line.text.split())
            baseline = (line.bottom - 0.27 * (line.bottom - line.top)) / scale
            style: dict[str, Any] = {"size": size, "top_size": size, "bold": bold, "bold_start": bold, "font": "scan"}
            prose = is_prose(text)
            own.append(Fragment(text, line.left / scale, line.right / scale, baseline, **style, prose=prose))
    return fragments


def _size(line: ocr.OcrLine, scale: float) -> float:
    return (line.bottom - line.top) / _EM / scale


def _relative_stroke(line: ocr.OcrLine) -> float:
    return line.stroke / max(line.bottom - line.top, 1.0)


def no_text(path: Path, ocr_tried: bool) -> ReadError:
    """Of a file in which there is no text at all."""
    advice = "OCR found none either; leave it out." if ocr_tried else f"Install OCR to read scans: {ocr.INSTALL}."
    return ReadError(path, "holds no text (it may be a scan)", advice)


def named_pages(numbers: Iterable[int]) -> str:
    """Page numbers as a reader writes them.

    >>> named_pages([2, 3, 4, 7]), named_pages([5])
    ('pages 2-4, 7', 'page 5')
    """
    numbers = sorted(numbers)
    runs = [[number for _, number in run] for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
    shown = ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
    return f"{'page' if len(numbers) == 1 else 'pages'} {shown}"
