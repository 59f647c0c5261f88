"""Pages that are pictures: a document may be scanned in part."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any


def has_image(document: Any, index: int) -> bool:
    """Whether a page of a pdfium document shows a picture."""
    import pypdfium2 as pdfium
    import pypdfium2.raw as pdfium_c

    try:
        page = document[index]
    except pdfium.PdfiumError:
        return False
    try:
        return next(iter(page.get_objects(filter=[pdfium_c.FPDF_PAGEOBJ_IMAGE])), None) is not None
    finally:
        page.close()


def named_pages(numbers: Iterable[int]) -> str:
    """Page numbers as a reader writes them.

    >>> named_pages([2, 3, 4, 7]), named_pages([5])
    ('pages 2-4, 7', 'page 5')
    """
    numbers = sorted(numbers)
    runs = [[number for _, number in run] for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
    shown = ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
    return f"{'page' if len(numbers) == 1 else 'pages'} {shown}"
