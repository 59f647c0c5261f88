"""A page of a PDF as a picture, with a passage highlighted; and the file opened in pdfium."""

import re
import struct
import threading
import unicodedata
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pypdfium2 as pdfium
from pypdfium2 import raw

from longmatch.errors import ReadError

_TAIL = 65_536  # bytes at the end of a file that must contain its end-of-file marker
_PDFIUM_LOCK = threading.Lock()
_SHORTEST = 24  # letters of a part of a passage that is looked for alone

Rectangle = tuple[float, float, float, float]  # left, bottom, right, top, in the page's points
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
        with closing(open_page(document, number, path)) as page:
            pixels, to_pixels = draw(page, longest)
            for left, bottom, right, top in passage_rectangles(page, passage) if passage else []:
                corners = zip(to_pixels(left, bottom), to_pixels(right, top), strict=True)
                (first, last), (upper, lower) = (sorted(pair) for pair in corners)
                rows = slice(max(upper - _PADDING, 0), max(lower + _PADDING, 0))
                columns = slice(max(first - _PADDING, 0), max(last + _PADDING, 0))
                pixels[rows, columns] = (pixels[rows, columns] * _MARKER).astype(np.uint8)
        return PagePicture(png(pixels), len(document))


def open_page(document: Any, number: int, path: Path) -> Any:
    """A page of an open PDF; raise ReadError if it is damaged."""
    try:
        return document[number - 1]
    except pdfium.PdfiumError:
        raise ReadError(path, f"is damaged at page {number}", "Get a fresh copy.") from None


def draw(page: Any, longest: int, most_scale: float = 4.0) -> tuple[Pixels, Any]:
    """The pixels of a page in red, green and blue, and a function from its points to their columns and rows."""
    scale = min(longest / max(*page.get_size(), 1.0), most_scale)
    with closing(page.render(scale=scale, rev_byteorder=True, may_draw_forms=False)) as bitmap:
        pixels = np.array(bitmap.to_numpy()[..., :3])  # pdfium's own memory goes with the bitmap
        return pixels, bitmap.get_posconv(page).to_bitmap


def png(pixels: Pixels) -> bytes:
    """Pixels as a PNG file."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # each begins with its filter: none
    rows[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [b"IHDR" + header, b"IDAT" + zlib.compress(rows.tobytes(), 6), b"IEND"]
    sized = (struct.pack(">I", len(part) - 4) + part + struct.pack(">I", zlib.crc32(part)) for part in parts)
    return b"\x89PNG\r\n\x1a\n" + b"".join(sized)


def passage_rectangles(page: Any, passage: str) -> list[Rectangle]:
    """A rectangle per line of the passage; none if it is not found.

    Only letters and digits are compared, so blanks, hyphens and ligatures do not matter. Of a passage that runs on to
    another page or column, the part that stands here together is found.
    """
    wanted = _plain(passage)
    with closing(page.get_textpage()) as textpage:
        parts = [_plain(chr(raw.FPDFText_GetUnicode(textpage, n))) for n in range(raw.FPDFText_CountChars(textpage))]
        letters = "".join(parts)
        places = [n for n, part in enumerate(parts) for _ in part]  # the character of the page each letter belongs to
        size = len(wanted)
        while size and (size >= _SHORTEST or size == len(wanted)):
            for part in (wanted[:size], wanted[-size:]):
                if (place := letters.find(part)) >= 0:
                    first, last = places[place], places[place + size - 1]
                    return [textpage.get_rect(n) for n in range(textpage.count_rects(first, last - first + 1))]
            size = size * 3 // 4
        return []


def _plain(text: str) -> str:
    characters = (unicodedata.normalize("NFKC", character) for character in text)
    return "".join(c for character in characters for c in character.casefold() if c.isalnum())


@contextmanager
def open_pdf(path: Path, content: bytes | None = None) -> Iterator[Any]:
    """Open a file in pdfium, which is not thread-safe; `content` is that of one that lies inside another file."""
    _check_pdf(path, content)
    with _PDFIUM_LOCK:
        try:
            document = pdfium.PdfDocument(path if content is None else content)
        except pdfium.PdfiumError as error:
            if "password" in str(error).casefold():
                raise ReadError(path, "needs a password", "Save a copy without one.") from None
            raise ReadError(path, "is damaged", "Get a fresh copy.") from None
        with closing(document):
            if not len(document):
                raise ReadError(path, "is damaged", "Get a fresh copy.")
            yield document


def _check_pdf(path: Path, content: bytes | None) -> None:
    """Reject files that are not PDFs or are truncated, which pdfium would read without an error."""
    try:
        with path.open("rb") if content is None else BytesIO(content) as file:
            head = file.read(1024)
            size = file.seek(0, 2)
            file.seek(max(0, size - _TAIL))
            tail = file.read()
    except OSError as error:
        raise ReadError(path, f"cannot be opened ({error.strerror})", "Check its name and permissions.") from None
    if b"%PDF-" not in head:
        raise ReadError(path, "is not a PDF", "Give it the right file extension, or get a fresh copy.")
    start = re.findall(rb"startxref\s+(\d+)\s*%%EOF", tail)
    if not start or not 0 < int(start[-1]) < size:
        raise ReadError(path, "is damaged (its end is missing)", "Get a fresh copy.")
