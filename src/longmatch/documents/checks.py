"""Whether what was read is a document at all."""

from pathlib import Path

from longmatch.documents.document import Document
from longmatch.errors import ReadError


def checked(document: Document, path: object) -> Document:
    """The document itself, if it has a sentence; else a ReadError that says so."""
    if not any(c.isalpha() for p in document.paragraphs for c in p.of(document.text)):
        raise ReadError(path, "holds no sentences", "Leave it out, or check that it is the file you meant.")
    return document


def check_file(path: Path) -> None:
    """Raise a ReadError unless the path is a file with something in it."""
    if path.is_dir():
        raise ReadError(path, "is a folder, not a file", "Name one of the files in it.")
    try:
        size = path.stat().st_size
    except OSError as error:
        raise ReadError(path, "does not exist", "Check the name.") from error
    if size == 0:
        raise ReadError(path, "is empty", "Leave it out, or put text in it.")
