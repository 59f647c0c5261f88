"""Scans made from PDF files whose text is known: pages as grey pictures, slightly askew and grainy."""

from pathlib import Path

import numpy as np

DPI = 150


def save_scan(
    source: Path, target: Path, degrees: float = 0.6, noise: float = 12.0, seed: int = 0, pages: int | None = None
) -> None:
    """Write a PDF of pictures of another PDF's pages, of the first `pages` if given.

    The pages are turned by up to `degrees` either way; `noise` is its standard deviation, in shades of 256.
    """
    import pypdfium2 as pdfium
    from scipy.ndimage import rotate

    random = np.random.default_rng(seed)
    with pdfium.PdfDocument(source) as original:
        scan = pdfium.PdfDocument.new()
        for number in range(min(len(original), pages or len(original))):
            page = original[number]
            shades = page.render(scale=DPI / 72, grayscale=True).to_numpy()
            width, height = page.get_size()
            flat = np.asarray(shades).reshape(shades.shape[:2]).astype(np.float32)
            turned = rotate(flat, random.uniform(-degrees, degrees), reshape=False, order=1, cval=255.0)
            grainy = turned * 0.92 + random.normal(0, noise, turned.shape)
            shades = grainy.clip(0, 255).astype(np.uint8)
            image = pdfium.PdfImage.new(scan)
            bitmap = pdfium.PdfBitmap.new_native(shades.shape[1], shades.shape[0], pdfium.raw.FPDFBitmap_Gray)
            np.asarray(bitmap.to_numpy()).reshape(shades.shape)[:] = shades
            image.set_bitmap(bitmap)
            image.set_matrix(pdfium.PdfMatrix().scale(width, height))
            sheet = scan.new_page(width, height)
            sheet.insert_obj(image)
            sheet.gen_content()
        scan.save(target)
        scan.close()
