"""Checks before and after reading: a usable file, a document with words in it."""

from pathlib import Path

from longmatch.documents.document import Document
from longmatch.errors import ReadError

NO_TEXT = "holds no sentences"


def check_document(document: Document, path: object) -> Document:
    """Return the document; raise ReadError if it contains no letters. `path` names it in the error message."""
    if not any(c.isalpha() for p in document.paragraphs for c in p.of(document.text)):
        raise ReadError(path, NO_TEXT, "Leave it out, or check that it is the file you meant.")
    return document


def exists(path: Path) -> bool:
    """Whether there is a file or folder of that name; raise ReadError where a folder above it may not be entered."""
    try:
        path.stat()
    except PermissionError as error:
        raise ReadError(path, "cannot be reached", "Check the permissions of the folders above it.") from error
    except (OSError, ValueError):  # none, or a name that no file can have
        return False
    return True


def is_gone(path: Path) -> bool:
    """Whether a file is no longer there; one in a folder that may not be entered may still be."""
    try:
        return not exists(path)
    except ReadError:
        return False


def is_pdf(source: str) -> bool:
    """Whether a document's file is a PDF, by its name."""
    return source.lower().endswith(".pdf")


def check_file(path: Path) -> None:
    """Raise ReadError unless the path is a non-empty file."""
    if not exists(path):
        raise ReadError(path, "does not exist", "Check the name.")
    if path.is_dir():
        raise ReadError(path, "is a folder, not a file", "Name one of the files in it.")
    if path.stat().st_size == 0:
        raise ReadError(path, "is empty", "Leave it out, or put text in it.")


def first_bytes(path: Path, count: int) -> bytes:
    """The beginning of a file."""
    try:
        with path.open("rb") as file:
            return file.read(count)
    except OSError as error:
        raise ReadError(path, f"cannot be opened ({error.strerror})", "Check its permissions.") from error
