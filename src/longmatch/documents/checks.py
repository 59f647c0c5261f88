"""Checks before and after reading: an ordinary file of bounded size, a document with words in it."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from longmatch.documents.document import Document
from longmatch.errors import ReadError

NO_TEXT = "holds no sentences"
LARGEST_FILE = 100_000_000  # bytes of a file that is read at once: about a hundred times a long book
_SPECIAL = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


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


def real_path(path: Path) -> Path:
    """The absolute path behind links; of a link that leads to itself, its own."""
    return Path(os.path.realpath(path))


def is_gone(path: Path) -> bool:
    """Whether a file is no longer there; one in a folder that may not be entered may still be."""
    try:
        return not exists(path)
    except ReadError:
        return False


def file_status(path: Path) -> os.stat_result:
    """The status of a regular file, also behind links; raise ReadError for all else: a pipe or a device has no end."""
    if not exists(path):
        with suppress(OSError):  # a name that no file can have
            if path.is_symlink():
                raise ReadError(path, "is a link that leads nowhere", "Mend it, or leave it out.")
        raise ReadError(path, "does not exist", "Check the name.")
    status = path.stat()
    if stat.S_ISDIR(status.st_mode):
        raise ReadError(path, "is a folder, not a file", "Name one of the files in it.")
    if not stat.S_ISREG(status.st_mode):
        kind = _SPECIAL.get(stat.S_IFMT(status.st_mode), "something else")
        raise ReadError(path, f"is {kind}, not a regular file", "Save its content in a file, or leave it out.")
    return status


def check_file(path: Path) -> os.stat_result:
    """The status of a regular file that is not empty; raise ReadError for all else."""
    status = file_status(path)
    if status.st_size == 0:
        raise ReadError(path, "is empty", "Leave it out, or put text in it.")
    return status


def too_large(path: object) -> ReadError:
    """What is said of a file that would have to be read at once."""
    most = LARGEST_FILE // 1_000_000
    return ReadError(path, f"is larger than {most:,} MB, the most that is read of this format", "Divide it.")


def first_bytes(path: Path, count: int) -> bytes:
    """The beginning of a regular file."""
    file_status(path)
    try:
        with path.open("rb") as file:
            return file.read(count)
    except OSError as error:
        raise ReadError(path, f"cannot be opened ({error.strerror})", "Check its permissions.") from error
