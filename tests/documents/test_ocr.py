"""Scans and pictures are read by OCR: real models, on pages drawn from text that is known."""

import re
import subprocess
import sys
import time
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
import pytest
from benchmarks.written.formats import PdfWriter
from benchmarks.written.scanning import save_scan
from PIL import Image

import longmatch
from longmatch.documents import ocr
from longmatch.documents.pdf.picture import draw
from longmatch.documents.pdf.scans import ScannedPage, remarks_on
from longmatch.errors import ReadError
from longmatch.library import files
from longmatch.library.library import Library

EXAMPLES = Path(__file__).parents[2] / "examples" / "collection"
HEADING = "2. The harbour wall"
TEXT = "The harbour wall was raised by forty centimetres in 1911. Its stones came from the quarry above the town."
RELAYING = """
import sys
from pathlib import Path
from longmatch.documents import ocr
with ocr.relaying(Path(sys.argv[1])):
    ocr.report_page(int(sys.argv[2]), 2)
"""
COUNTED: list[tuple[int, int]] = []  # pages of the scan, as they were read
OTHER = "Storms have passed over it twice since then. The keeper wrote both of them down in his book."


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def share_found(known: list[str], read: list[str]) -> float:
    blocks = SequenceMatcher(None, known, read, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / len(known)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with a heading and two paragraphs, as text."""
    path = tmp_path_factory.mktemp("scan") / "text.pdf"
    writer = PdfWriter()
    writer.paragraph(HEADING, "Times-Bold", 13)
    writer.paragraph(TEXT, "Times-Roman", 12)
    writer.paragraph(OTHER, "Times-Roman", 12)
    writer.save(path)
    return path


@pytest.fixture(scope="module")
def scan(page: Path) -> Path:
    save_scan(page, page.with_name("scan.pdf"))
    return page.with_name("scan.pdf")


@pytest.fixture(scope="module")
def read_scan(scan: Path) -> longmatch.Document:
    with ocr.watching(lambda done, total: COUNTED.append((done, total))):
        return longmatch.read(scan)


def test_a_scanned_page_is_read_with_its_heading_and_its_page(read_scan):
    assert [section.heading for section in read_scan.sections] == [HEADING]
    assert share_found(words(f"{HEADING} {TEXT} {OTHER}"), words(read_scan.text)) >= 0.95
    assert {paragraph.page for paragraph in read_scan.paragraphs} == {1}


def test_how_sure_ocr_is_goes_into_the_metadata(read_scan):
    assert read_scan.metadata["ocr_pages"] == 1
    assert 0.9 < read_scan.metadata["ocr_confidence"] <= 1


@pytest.mark.slow
def test_a_picture_of_a_page_lying_on_its_side_is_read(page, tmp_path):
    import pypdfium2

    with pypdfium2.PdfDocument(page) as pdf:
        pixels, _ = draw(pdf[0], 1200)
    Image.fromarray(np.rot90(pixels[:500])).save(tmp_path / "photo.png")
    assert share_found(words(f"{HEADING} {TEXT} {OTHER}"), words(longmatch.read(tmp_path / "photo.png").text)) >= 0.95


def test_pages_are_counted_as_they_are_read(read_scan):
    assert COUNTED == [(0, 1), (1, 1)]


def test_pages_that_another_process_reads_are_counted_too():
    counted: list[tuple[int, int]] = []
    with ocr.watching(lambda done, total: counted.append((done, total))), ocr.relayed(seconds=0.01) as pages:
        for done in range(3):
            process = subprocess.run([sys.executable, "-c", RELAYING, pages, str(done)], check=True)
            deadline = time.monotonic() + 20
            while len(counted) <= done and time.monotonic() < deadline:
                time.sleep(0.01)
    assert process.returncode == 0 and counted == [(0, 2), (1, 2), (2, 2)]


def test_lines_are_read_in_few_widths_so_that_memory_does_not_grow_with_the_pages():
    widths: list[int] = []
    session = ocr.FewWidths(lambda lines: widths.append(lines.shape[3]))
    for width in range(320, 1300, 7):
        session(np.ones((1, 3, 48, width), dtype=np.float32))
    assert len(widths) == 140 and len(set(widths)) == 8


def test_pages_that_ocr_is_not_sure_of_are_named():
    pages = [ScannedPage(n, [ocr.OcrLine("wall", 0, 9, 0, 9, sure)], 1.0) for n, sure in enumerate([0.9, 0.4, 0.5], 1)]
    said = "a.pdf: OCR is not sure of pages 2-3; compare what was read with the scan."
    assert remarks_on(Path("a.pdf"), pages) == [said]
    assert remarks_on(Path("a.pdf"), [ScannedPage(7, [], 1.0)]) == ["a.pdf: OCR found no text on page 7."]


def test_without_the_extra_a_picture_names_it(tmp_path, monkeypatch):
    monkeypatch.setattr(ocr, "is_available", lambda: False)
    Image.new("RGB", (40, 40), "white").save(tmp_path / "a.jpg")
    with pytest.raises(ReadError, match=r"is a picture\. Install OCR to read the text in it: pip install"):
        longmatch.read(tmp_path / "a.jpg")


@pytest.mark.parametrize("content", [b"no picture at all", b"\x89PNG\r\n\x1a\n" + bytes(40)])
def test_a_damaged_picture_is_refused_in_a_sentence(tmp_path, content):
    (tmp_path / "a.png").write_bytes(content)
    with pytest.raises(ReadError, match="is damaged, or no picture"):
        longmatch.read(tmp_path / "a.png")


@pytest.mark.parametrize(("side", "size"), [(13_000, "13,000 x 13,000 pixels"), (14_000, "over 150,000,000 pixels")])
@pytest.mark.filterwarnings("error")
def test_a_picture_too_large_to_open_is_refused_before_it_is_unpacked(tmp_path, side, size):
    Image.new("1", (side, side)).save(tmp_path / "a.tif", compression="group4")
    with pytest.raises(ReadError, match=rf"is too large \({size}\)"):
        longmatch.read(tmp_path / "a.tif")


@pytest.mark.slow
def test_a_scan_that_was_refused_is_read_once_the_extra_is_there(tmp_path, scan, matcher, monkeypatch):
    folder = tmp_path / "scans"
    folder.mkdir()
    (folder / "scan.pdf").write_bytes(scan.read_bytes())
    library = Library(tmp_path / "library", matcher)
    with monkeypatch.context() as without:
        without.setattr(ocr, "is_available", lambda: False)
        without.setattr(files, "may_crash", lambda name: False)  # so that it is read in this process
        assert "pip install 'longmatch[ocr]'" in library.add(folder).unreadable[0][1]
        assert len(library.add(folder).unreadable) == 1
    assert library.add(folder).added == ["scan.pdf"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["laboratory-analyst-ruling", "step-rate-and-tibial-damage", "tower-repair-report"])
def test_a_scan_has_the_words_of_its_text_and_ranks_beside_it(tmp_path, matcher, name):
    original, scan = EXAMPLES / f"{name}.pdf", tmp_path / "scan.pdf"
    save_scan(original, scan)
    assert share_found(words(longmatch.read(original).text), words(longmatch.read(scan).text)) >= 0.95
    library = Library(tmp_path / "library", matcher)
    library.add([EXAMPLES, scan])
    assert library.rank(original.name, k=1)[0].id == scan.name
    for query in library:
        places = {hit.id: place for place, hit in enumerate(library.rank(query, k=len(library)))}
        if query not in (original.name, scan.name) and min(places[original.name], places[scan.name]) < 10:
            assert abs(places[original.name] - places[scan.name]) <= 3
