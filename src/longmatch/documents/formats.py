"""The formats: what reads a document, and what lists the members of a file that holds many, by file name endings."""

import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from longmatch.documents.archive import DAMAGE
from longmatch.documents.checks import LARGEST_FILE, check_document, check_file, file_status, first_bytes, too_large
from longmatch.documents.document import Document
from longmatch.documents.draft import Draft
from longmatch.errors import ReadError

READERS = {  # suffix -> module and function that makes a Draft of a path, imported on first use
    ".txt": ("text", "read_plain"),
    ".md": ("markdown", "read_markdown"),
    ".markdown": ("markdown", "read_markdown"),
    ".html": ("html", "read_html"),
    ".htm": ("html", "read_html"),
    ".pdf": ("pdf.reader", "read_pdf"),
    ".docx": ("docx", "read_docx"),
    ".odt": ("odt", "read_odt"),
    ".rtf": ("rtf", "read_rtf"),
    ".epub": ("epub", "read_epub"),
    ".pptx": ("pptx", "read_pptx"),
    ".tex": ("tex", "read_tex"),
    ".xml": ("jats", "read_jats"),
    ".nxml": ("jats", "read_jats"),
    ".eml": ("mail", "read_mail"),
}


@dataclass(frozen=True)
class Container:
    """Files that hold many documents: a function of a path that yields `Member`s."""

    suffixes: tuple[str, ...]
    module: str  # in longmatch.documents, or with all its dots
    function: str
    is_document: bool = False  # the file is a document itself, as an e-mail with attachments
    of_files: bool = False  # its members are files, listed without reading them and unpacked on disk to be read


JSONL_SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.xz")
CONTAINERS: tuple[Container, ...] = (
    Container(JSONL_SUFFIXES, "jsonl", "jsonl_members"),
    Container((".mbox",), "mail", "mailbox_members"),
    Container((".zip",), "zipped", "zip_members", of_files=True),
    Container((".eml",), "mail", "mail_members", is_document=True),
)
IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff")  # read by OCR where named; folders hold many other pictures
_IMAGE_READER = ("pdf.reader", "read_image")
_IN_PARTS = frozenset({".pdf", ".docx", ".odt", ".epub", ".pptx", *IMAGE_SUFFIXES})  # never in memory as a whole
_CRASHING = (".pdf", *IMAGE_SUFFIXES, ".eml")  # readers written in C++; and what may be attached
_SYSTEM_FILES = frozenset({"thumbs.db", "desktop.ini"})  # of file managers
_OPEN_DOCUMENT = b"application/vnd.oasis.opendocument.text"
_HEAD, _TAIL = 1_024, 2_048


def suffixes() -> tuple[str, ...]:
    """File name endings of all supported formats."""
    return tuple(dict.fromkeys((*READERS, *(suffix for each in CONTAINERS for suffix in each.suffixes))))


def upload_suffixes() -> tuple[str, ...]:
    """The formats that are read without writing any file."""
    from longmatch.documents.ocr import is_available

    written = {suffix for each in CONTAINERS if each.of_files for suffix in each.suffixes}
    images = IMAGE_SUFFIXES if is_available() else ()
    return (*(suffix for suffix in suffixes() if suffix not in written), *images)


def suffix_of(name: str) -> str:
    """The supported suffix that a file name ends with, in lower case; empty if it has none.

    >>> suffix_of("a.b.JSONL.gz"), suffix_of("a.exe")
    ('.jsonl.gz', '')
    """
    return max((suffix for suffix in suffixes() if name.lower().endswith(suffix)), key=len, default="")


def is_hidden(name: str) -> bool:
    """Whether a file of this name is hidden, the lock of an office program, or one of a file manager's own."""
    return name.startswith((".", "~$")) or name.lower() in _SYSTEM_FILES


def is_readable(name: str) -> bool:
    """Whether longmatch reads a file of this name: a supported suffix, not hidden, not an office lock file.

    >>> is_readable("A.PDF"), is_readable("a.jsonl.xz"), is_readable("~$a.docx"), is_readable("a.exe")
    (True, True, False, False)
    """
    return not is_hidden(name) and suffix_of(name) != ""


def may_crash(name: str) -> bool:
    """Whether a damaged file of this name may end the process that reads it, or what is attached to it may."""
    return name.lower().endswith(_CRASHING)


def container_named(name: str) -> Container | None:
    """The container that a file is by its name."""
    return next((each for each in CONTAINERS if name.lower().endswith(each.suffixes)), None)


def container_of(path: Path) -> Container | None:
    """The container that a file is; none if its content shows that it is one document of another format."""
    container = container_named(path.name)
    return None if container is None or (path.is_file() and suffix_by_content(path)) else container


def holds_many(path: Path) -> bool:
    """Whether a file holds many documents, and is none itself."""
    container = container_of(path)
    return container is not None and not container.is_document


def split_address(path: Path) -> tuple[Path, str] | None:
    """Split `file.jsonl#ID` into file and ID; the ID may contain slashes and further #."""
    name = str(path)
    lower = "".join(c.lower() if c.isascii() else c for c in name)
    found = [(lower.find(f"{suffix}#"), len(suffix)) for each in CONTAINERS for suffix in each.suffixes]
    start, length = min((place for place in found if place[0] >= 0), default=(-1, 0))
    return None if start < 0 else (Path(name[: start + length]), name[start + length + 1 :])


def status_of_readable(path: Path) -> os.stat_result:
    """The status of a file, before it is opened; raise ReadError unless it is regular and not too large to be read."""
    status = file_status(path)
    if status.st_size <= LARGEST_FILE or holds_many(path):
        return status
    if (suffix_by_content(path) or path.suffix.lower()) not in _IN_PARTS:
        raise too_large(path)
    return status


def read_single(path: Path, id: str) -> Document:
    """Read a file of one document."""
    check_file(path)
    suffix = suffix_by_content(path) or path.suffix.lower()
    known = _IMAGE_READER if suffix in IMAGE_SUFFIXES else READERS.get(suffix)
    if known is None:
        raise ReadError(path, f"has an unsupported format ({suffix or 'no suffix'})", supported())
    module, function = known
    reader: Callable[[Path], Draft] = getattr(import_module(f"longmatch.documents.{module}"), function)
    return check_document(reader(path).document(id, source=str(path)), path)


def supported() -> str:
    """The advice where a format is not."""
    return f"Supported formats: {', '.join(suffixes())}."


def suffix_by_content(path: Path) -> str:
    """The suffix of the format that a file's content shows beyond doubt; empty if it shows none.

    Formats of plain text show none.
    """
    head = first_bytes(path, _HEAD)
    if head.startswith(b"%PDF-"):
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - _TAIL))
            return ".pdf" if b"%%EOF" in file.read() else ""
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{\\rtf1"):
        return ".rtf"
    return _kind_of_zip(path) if head.startswith(b"PK\x03\x04") else ""


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
