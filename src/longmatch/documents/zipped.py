"""Zip files of documents: one document per member."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from longmatch.documents.archive import LARGEST_MEMBER, Archive
from longmatch.documents.document import Document
from longmatch.errors import ReadError

OnError: TypeAlias = Callable[[ReadError], None]
ReadFile: TypeAlias = Callable[[Path, str, OnError], Iterator[Document]]

_GROUP_MEMBERS, _GROUP_BYTES = 64, 8_000_000  # read together, and in memory together


def group_members(path: Path, suffix_of: Callable[[str], str], on_error: OnError) -> list[tuple[str, ...]]:
    """The members of a zip file that are documents, in order, in groups to be read together.

    `suffix_of` gives the supported suffix of a file name, or nothing. A zip file in the zip file goes to `on_error`.
    """
    groups: list[list[str]] = []
    room = 0
    with Archive(path, "a zip file") as archive:
        if archive.total_size > LARGEST_MEMBER * 10 + 30 * path.stat().st_size:
            raise ReadError(path, "unpacks to a huge size", "It is not an ordinary collection; leave it out.")
        for name in archive.names:
            if _is_hidden(name) or not (suffix := suffix_of(name)):
                continue
            if suffix == ".zip":
                on_error(ReadError(f"{path}#{name}", "is a zip file in a zip file", "Unpack the outer one."))
                continue
            room -= archive.size(name)
            if not groups or len(groups[-1]) == _GROUP_MEMBERS or room < 0:
                groups.append([])
                room = _GROUP_BYTES - archive.size(name)
            groups[-1].append(name)
    return [tuple(group) for group in groups]


def no_documents(path: Path) -> ReadError:
    """What is said of a zip file without documents."""
    return ReadError(path, "is a zip file without a file that longmatch reads", "Unpack it, or leave it out.")


def read_members(
    path: Path, names: Sequence[str], id: str, suffix_of: Callable[[str], str], read_file: ReadFile, on_error: OnError
) -> Iterator[Document]:
    """Yield the documents of some members, with the ids `ID#NAME`; `read_file` reads each, unpacked.

    Members that cannot be read are passed to `on_error`.
    """
    with (
        Archive(path, "a zip file", LARGEST_MEMBER * max(1, len(names))) as archive,
        tempfile.TemporaryDirectory(prefix="longmatch-zip-") as folder,
    ):
        member = Path(folder)
        for name in names:
            member = Path(folder) / f"member{suffix_of(name)}"

            def complain(error: ReadError, name: str = name, unpacked: str = str(member)) -> None:
                advice = error.advice.replace(unpacked, name)
                on_error(ReadError(f"{path}#{name}", error.problem.replace(unpacked, name), advice))

            try:
                with member.open("wb") as file:
                    file.writelines(archive.slices(name))
                for document in read_file(member, f"{id}#{name}", complain):
                    yield replace(document, source=str(path))
            except ReadError as error:
                complain(error)
            except OSError as error:
                raise ReadError(path, f"cannot be unpacked ({error.strerror})", "Make room and try again.") from error


def _is_hidden(name: str) -> bool:
    parts = name.split("/")
    return (
        name.endswith("/")
        or parts[0] == "__MACOSX"
        or any(part.startswith((".", "~$")) and part != ".." for part in parts)
    )
