"""Opening a PDF in pdfium: one at a time, and only files that are whole."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from longmatch.errors import ReadError

_TAIL = 65_536  # bytes at the end of a file that must contain its end-of-file marker
_PDFIUM_LOCK = threading.Lock()


@contextmanager
def open_pdf(path: Path, content: bytes | None = None) -> Iterator[Any]:
    """Open a file in pdfium, which is not thread-safe; `content` is that of one that lies inside another file."""
    import pypdfium2 as pdfium

    _check_pdf(path, content)
    with _PDFIUM_LOCK:
        try:
            document = pdfium.PdfDocument(path if content is None else content)
        except pdfium.PdfiumError as error:
            if "password" in str(error).casefold():
                raise ReadError(path, "needs a password", "Save a copy without one.") from None
            raise ReadError(path, "is damaged", "Get a fresh copy.") from None
        try:
            if not len(document):
                raise ReadError(path, "is damaged", "Get a fresh copy.")
            yield document
        finally:
            document.close()


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
