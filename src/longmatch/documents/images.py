"""Image files (PNG, JPEG, TIFF): pictures of pages, read by OCR."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from longmatch.documents import ocr
from longmatch.documents.draft import Draft
from longmatch.documents.pdf.reader import draft_pages
from longmatch.documents.pdf.scans import no_text, recognise_pages, remarks_on, scan_metadata, scanned_fragments
from longmatch.errors import ReadError

MOST_PIXELS = 150_000_000  # of a frame: A4 at 1,200 dots per inch
_POINTS = 842  # what the longer side of a picture is taken for: A4


def read_image(path: Path) -> Draft:
    """Read a picture of a page, or all pages of a TIFF file."""
    if not ocr.is_available():
        raise ReadError(path, "is a picture", f"Install OCR to read the text in it: {ocr.INSTALL}.")
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # its limit is lower than ours
            opened = Image.open(path)
        with opened as image:
            if image.width * image.height > MOST_PIXELS:
                raise ReadError(path, f"is too large ({image.width:,} x {image.height:,} pixels)", "Make it smaller.")
            count = getattr(image, "n_frames", 1)
            pages = recognise_pages(range(1, count + 1), lambda number: _pixels(path, image, number))
    except Image.DecompressionBombError as error:  # at twice that limit, before the size is known here
        raise ReadError(path, f"is too large (over {MOST_PIXELS:,} pixels)", "Make it smaller.") from error
    except (OSError, ValueError, SyntaxError, UnidentifiedImageError) as error:
        raise ReadError(path, "is damaged, or no picture", "Get a fresh copy.") from error
    fragments = scanned_fragments(pages)
    if not any(fragments):
        raise no_text(path, ocr_tried=True)
    draft = draft_pages(fragments, frozenset(), scan_metadata(pages))
    draft.remarks = remarks_on(path, pages)
    return draft


def _pixels(path: Path, image: Any, number: int) -> tuple[ocr.Pixels, float]:
    """A frame, turned as its camera says, made smaller if it is large, and its pixels per point."""
    from PIL import ImageOps

    image.seek(number - 1)
    if image.width * image.height > MOST_PIXELS:
        raise ReadError(path, f"is too large at page {number}", "Make it smaller.")
    frame = ImageOps.exif_transpose(image).convert("RGB")
    frame.thumbnail((ocr.LONGEST_SIDE, ocr.LONGEST_SIDE))
    return np.array(frame), max(frame.size) / _POINTS
