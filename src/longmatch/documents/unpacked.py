"""Files inside a file, unpacked one at a time into a private folder and read like any others."""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from longmatch.documents.archive import SHARED_RATIO, SHARED_ROOM, Room, read_together
from longmatch.documents.document import Document
from longmatch.errors import ReadError

OnError: TypeAlias = Callable[[ReadError], None]
ReadFile: TypeAlias = Callable[[Path, str, OnError], Iterator[Document]]
SuffixOf: TypeAlias = Callable[[str], str]
"""The supported suffix of a file name, or nothing."""


def read_unpacked(
    parts: Iterable[tuple[str, Iterable[bytes]]],
    path: object,
    id: str,
    suffix_of: SuffixOf,
    read_file: ReadFile,
    on_error: OnError,
    packed: int,
) -> Iterator[Document]:
    """Yield the documents of files given by name and content, with the ids `ID#NAME`; `read_file` reads each.

    `path` is the file that they lie in, where they take `packed` bytes. Those that cannot be read go to `on_error`.
    """
    together = Room(SHARED_ROOM + SHARED_RATIO * packed)
    with tempfile.TemporaryDirectory(prefix="longmatch-unpacked-") as folder:
        for name, content in parts:
            unpacked = Path(folder) / f"member{suffix_of(name)}"

            def complain(error: ReadError, name: str = name, unpacked: str = str(unpacked)) -> None:
                advice = error.advice.replace(unpacked, name)
                on_error(ReadError(f"{path}#{name}", error.problem.replace(unpacked, name), advice))

            try:
                with unpacked.open("wb") as file:
                    file.writelines(content)
                for document in read_together(read_file(unpacked, f"{id}#{name}", complain), together):
                    yield replace(document, source=str(path))
            except ReadError as error:
                complain(error)
            except OSError as error:
                raise ReadError(path, f"cannot be unpacked ({error.strerror})", "Make room and try again.") from error


def passed_over_sentence(path: object, names: list[str], what: str) -> str:
    """What is said of the files inside a file that are of no supported format.

    >>> passed_over_sentence("a.eml", ["b.xlsx"], "attachment")
    'a.eml has 1 attachment of a format that longmatch does not read: b.xlsx.'
    """
    listed = ", ".join(names[:5]) + (f" and {len(names) - 5:,} more" if len(names) > 5 else "")
    counted = f"{len(names):,} {what}{'s' * (len(names) != 1)}"
    return f"{path} has {counted} of a format that longmatch does not read: {listed}."
