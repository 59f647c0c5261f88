"""Open the library that a command searches."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from longmatch.cli.output import warn
from longmatch.cli.progress import indexing
from longmatch.errors import LongmatchError, ReadError

if TYPE_CHECKING:
    from longmatch.library.changes import IndexingSummary
    from longmatch.library.library import Library

SEARCH_MODELS = ("default", "sdr")  # the scores that a library can be ranked by

Unreadable = list[tuple[str, str]]


def open_library(folder: str) -> tuple["Library | None", Unreadable]:
    """The library of that name, or the one kept in a folder of documents, brought up to date.

    None where there is no place for one: a single file, or a folder that cannot be written.
    """
    if "://" not in folder and not Path(folder).is_dir():
        return None, []
    with indexing() as report:
        from longmatch.library.library import Library
        from longmatch.library.store import FOLDER_LIBRARY, is_library

        if "://" in folder or is_library(Path(folder)):
            return Library(folder, create=False, on_message=warn), []
        inside = Path(folder) / FOLDER_LIBRARY
        if not os.access(folder, os.W_OK) and not is_library(inside):
            return None, []
        library = Library(inside, on_message=warn)
        done = library.add(folder, prune=True, progress=report)
    _check_filled(library, done, folder)
    return library, done.unreadable


@contextmanager
def any_library(folder: str) -> Iterator["Library"]:
    """The library that `open_library` gives, or one for the block alone: of a file, or a folder that is read-only."""
    library, _ = open_library(folder)
    if library is not None:
        yield library
        return
    with TemporaryDirectory(prefix="longmatch-") as place:
        with indexing() as report:
            from longmatch.library.library import Library

            library = Library(place, on_message=warn)
            done = library.add(folder, progress=report)
        _check_filled(library, done, folder)
        yield library


def _check_filled(library: "Library", done: "IndexingSummary", folder: str) -> None:
    """Print what could not be read; LongmatchError where nothing could."""
    if not len(library) and len(done.unreadable) == 1:  # it says more: what the one file is, or that there is none
        raise LongmatchError(done.unreadable[0][1])
    for sentence in [*(problem for _, problem in done.unreadable), *done.remarks]:
        warn(sentence)
    if not len(library):
        raise ReadError(folder, "holds no document that can be read", "Name a folder with documents.")
