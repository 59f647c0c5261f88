"""Open the library that a command searches."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from longmatch.cli.index import indexing
from longmatch.cli.progress import warn
from longmatch.errors import LongmatchError, ReadError

if TYPE_CHECKING:
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
    if not len(library) and len(done.unreadable) == 1:  # it says more: what the one file is, or that there is none
        raise LongmatchError(done.unreadable[0][1])
    for sentence in [*(problem for _, problem in done.unreadable), *done.remarks]:
        warn(sentence)
    if not len(library):
        raise ReadError(folder, "holds no document that can be read", "Name a folder with documents.")
    return library, done.unreadable
