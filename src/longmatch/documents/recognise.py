"""What a file is by its content, where its name says something else or nothing."""

import zipfile
from pathlib import Path

from longmatch.documents.archive import DAMAGE
from longmatch.documents.checks import first_bytes

_OPEN_DOCUMENT = b"application/vnd.oasis.opendocument.text"
_HEAD, _TAIL = 1_024, 2_048


def suffix_by_content(path: Path) -> str:
    """The suffix of the format that a file's content shows beyond doubt; empty if it shows none.

    Formats of plain text show none.
    """
    head = first_bytes(path, _HEAD)
    if head.startswith(b"%PDF-"):
        return ".pdf" if b"%%EOF" in _tail(path) else ""
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{\\rtf1"):
        return ".rtf"
    if head.startswith(b"PK\x03\x04"):
        return _kind_of_zip(path)
    return ""


def _kind_of_zip(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            declared = b""
            if "mimetype" in names and archive.getinfo("mimetype").file_size < 200:
                declared = archive.read("mimetype").strip()
    except DAMAGE:
        return ""
    if declared == b"application/epub+zip" or "META-INF/container.xml" in names:
        return ".epub"
    if declared.startswith(_OPEN_DOCUMENT):
        return ".odt"
    if "word/document.xml" in names:
        return ".docx"
    return ".pptx" if "ppt/presentation.xml" in names else ""


def _tail(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, 2) - _TAIL))
        return file.read()
