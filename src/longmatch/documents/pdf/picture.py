"""A page of a PDF as a picture."""

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from longmatch.documents.pdf.highlights import passage_rectangles
from longmatch.documents.pdf.opening import open_pdf
from longmatch.errors import ReadError

Pixels = npt.NDArray[np.uint8]  # (height, width, 3)

LONGEST_SIDE = 1600  # pixels
_MARKER = np.array([1.0, 0.93, 0.45])  # colour that a highlighted passage is multiplied with
_PADDING = 2  # pixels around the letters of a line


@dataclass(frozen=True)
class PagePicture:
    """A page as PNG, and how many pages the file has."""

    png: bytes
    pages: int


def page_picture(
    path: Path, number: int, passage: str = "", longest: int = LONGEST_SIDE, content: bytes | None = None
) -> PagePicture:
    """Draw page `number` (from 1), at most `longest` pixels high and wide; a passage found on it is highlighted.

    `content` is that of a PDF that lies inside the file `path`.
    """
    with open_pdf(path, content) as document:
        if not 1 <= number <= len(document):
            raise ReadError(path, f"has no page {number}", f"Its pages are numbered from 1 to {len(document)}.")
        page = open_page(document, number, path)
        try:
            pixels, to_pixels = draw(page, longest)
            for left, bottom, right, top in passage_rectangles(page, passage) if passage else []:
                _mark(pixels, to_pixels(left, bottom), to_pixels(right, top))
        finally:
            page.close()
        return PagePicture(png(pixels), len(document))


def open_page(document: Any, number: int, path: Path) -> Any:
    """A page of an open PDF; raise ReadError if it is damaged."""
    import pypdfium2 as pdfium

    try:
        return document[number - 1]
    except pdfium.PdfiumError:
        raise ReadError(path, f"is damaged at page {number}", "Get a fresh copy.") from None


def draw(page: Any, longest: int, most_scale: float = 4.0) -> tuple[Pixels, Any]:
    """The pixels of a page in red, green and blue, and a function from its points to their columns and rows."""
    scale = min(longest / max(*page.get_size(), 1.0), most_scale)
    bitmap = page.render(scale=scale, rev_byteorder=True, may_draw_forms=False)
    try:
        pixels = np.array(bitmap.to_numpy()[..., :3])  # pdfium's own memory goes with the bitmap
        return pixels, bitmap.get_posconv(page).to_bitmap
    finally:
        bitmap.close()


def _mark(pixels: Pixels, one: tuple[int, int], other: tuple[int, int]) -> None:
    (left, right), (top, bottom) = (sorted(pair) for pair in zip(one, other, strict=True))
    rows = slice(max(top - _PADDING, 0), max(bottom + _PADDING, 0))
    columns = slice(max(left - _PADDING, 0), max(right + _PADDING, 0))
    pixels[rows, columns] = (pixels[rows, columns] * _MARKER).astype(np.uint8)


def png(pixels: Pixels) -> bytes:
    """Pixels as a PNG file."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # each begins with its filter: none
    rows[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
