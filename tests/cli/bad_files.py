"""Files that cannot be read, each with what the one sentence about it says."""

import random
import zipfile
from pathlib import Path
from shutil import copy

from tests.documents.pdf.reading import blank_scan

FIXTURES = Path(__file__).parents[1] / "documents" / "pdf" / "fixtures"

PROBLEMS = {
    "empty.txt": "is empty",
    "binary.txt": "is not text",
    "numbers.txt": "holds no sentences",
    "scan.pdf": "holds no text (it may be a scan)",
    "encrypted.pdf": "needs a password",
    "truncated.pdf": "is damaged",
    "archive.docx": "is a zip file but not a DOCX file",
}


def write_bad_files(folder: Path) -> None:
    """Put one of each into a folder."""
    (folder / "empty.txt").touch()
    (folder / "binary.txt").write_bytes(random.Random(0).randbytes(5_000))
    (folder / "numbers.txt").write_text("12 345\n\n--- 6 ---\n")
    blank_scan(folder / "scan.pdf")
    copy(FIXTURES / "encrypted.pdf", folder / "encrypted.pdf")
    paper = (FIXTURES / "paper.pdf").read_bytes()
    (folder / "truncated.pdf").write_bytes(paper[: len(paper) // 2])
    with zipfile.ZipFile(folder / "archive.docx", "w") as archive:
        archive.writestr("note.txt", "Not a document.")
