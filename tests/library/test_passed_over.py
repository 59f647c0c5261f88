"""Nothing vanishes: files that are not read are named, and so is what was read only in part."""

from pathlib import Path

import pytest
from pypdfium2 import PdfDocument

from longmatch.documents import ocr, read
from longmatch.documents.read import list_folder
from longmatch.errors import LongmatchWarning
from longmatch.library import files
from longmatch.library.library import Library

PDFS = Path(__file__).parents[1] / "documents" / "pdf" / "fixtures"


def half_scanned(path: Path) -> Path:
    """Pages of text, and after them one that is a picture."""
    with PdfDocument(PDFS / "report.pdf") as text, PdfDocument(PDFS / "scan.pdf") as scan:
        text.import_pages(scan)
        text.save(path)
        return path


def test_files_of_other_formats_are_named_and_hidden_ones_are_not(library: Library, texts: Path) -> None:
    for name in ("a.xlsx", "sub/b.ODS", "Makefile", ".hidden.xlsx", "~$a.xlsx", "Thumbs.db", ".git/config"):
        (texts / name).parent.mkdir(exist_ok=True)
        (texts / name).write_bytes(b"x")
    done = library.add([texts, texts])
    assert [Path(file).name for file in done.passed_over] == ["Makefile", "a.xlsx", "b.ODS"]
    assert done.to_dict()["passed_over"] == done.passed_over
    assert (len(done.added), done.unreadable) == (8, [])


def test_the_files_of_a_library_among_the_documents_are_not_passed_over(library: Library, texts: Path) -> None:
    library.add(texts)
    Path(library.address).rename(texts / "library")
    assert list_folder(texts).unsupported == []
    assert list_folder(texts / "library").unsupported == []
    assert len(list_folder(texts).readable) == 8


def test_the_scanned_pages_of_a_pdf_are_named(library: Library, texts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "is_available", lambda: False)
    monkeypatch.setattr(files, "may_crash", lambda name: False)  # another process would not know that it is not there
    pdf = half_scanned(texts / "half.pdf")
    with PdfDocument(pdf) as document:
        last = len(document)
    with pytest.warns(LongmatchWarning, match=rf"half\.pdf: no text on page {last} \(scanned\?\)"):
        read(pdf)
    done = library.add(texts)
    assert len(done.added) == 9
    [remark] = done.remarks
    assert f"half.pdf: no text on page {last} (scanned?). Install OCR to include them: {ocr.INSTALL}." in remark
