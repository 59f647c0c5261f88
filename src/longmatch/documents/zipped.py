"""Zip files of documents: one document per member."""

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from longmatch.documents.archive import LARGEST_MEMBER, Archive
from longmatch.documents.document import Document
from longmatch.documents.unpacked import OnError, ReadFile, SuffixOf, passed_over_sentence, read_unpacked
from longmatch.errors import LongmatchWarning, ReadError

_GROUP_MEMBERS, _GROUP_BYTES = 64, 8_000_000  # read together, and in memory together


def group_members(path: Path, suffix_of: SuffixOf, on_error: OnError) -> list[tuple[str, ...]]:
    """The members of a zip file that are documents, in order, in groups to be read together.

    A zip file in the zip file goes to `on_error`; files of no supported format are named in a warning.
    """
    groups: list[list[str]] = []
    passed_over: list[str] = []
    room = 0
    with Archive(path, "a zip file") as archive:
        if archive.total_size > LARGEST_MEMBER * 10 + 30 * path.stat().st_size:
            raise ReadError(path, "unpacks to a huge size", "It is not an ordinary collection; leave it out.")
        for name in archive.names:
            if _is_hidden(name):
                continue
            if not (suffix := suffix_of(name)):
                passed_over.append(name)
                continue
            if suffix == ".zip":
                on_error(ReadError(f"{path}#{name}", "is a zip file in a zip file", "Unpack the outer one."))
                continue
            room -= archive.size(name)
            if not groups or len(groups[-1]) == _GROUP_MEMBERS or room < 0:
                groups.append([])
                room = _GROUP_BYTES - archive.size(name)
            groups[-1].append(name)
    if passed_over and groups:
        warnings.warn(passed_over_sentence(path, passed_over, "file"), LongmatchWarning, stacklevel=2)
    return [tuple(group) for group in groups]


def no_documents(path: Path) -> ReadError:
    """What is said of a zip file without documents."""
    return ReadError(path, "is a zip file without a file that longmatch reads", "Unpack it, or leave it out.")


def read_members(
    path: Path, names: Sequence[str], id: str, suffix_of: SuffixOf, read_file: ReadFile, on_error: OnError
) -> Iterator[Document]:
    """Yield the documents of some members, with the ids `ID#NAME`; `read_file` reads each, unpacked.

    Members that cannot be read are passed to `on_error`.
    """
    with Archive(path, "a zip file", LARGEST_MEMBER * max(1, len(names))) as archive:
        parts = ((name, archive.slices(name)) for name in names)
        packed = sum(archive.packed_size(name) for name in names)
        yield from read_unpacked(parts, path, id, suffix_of, read_file, on_error, packed)


def _is_hidden(name: str) -> bool:
    parts = name.split("/")
    return (
        name.endswith("/")
        or parts[0] == "__MACOSX"
        or any(part.startswith((".", "~$")) and part != ".." for part in parts)
    )
