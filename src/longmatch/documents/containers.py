"""Files that hold many documents: a container lists its members, and each member gives the documents in it.

A container is a function of a path that yields `Member`s, and a line in `formats.CONTAINERS`.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import TypeAlias

from longmatch.documents.archive import SHARED_RATIO, SHARED_ROOM, Room, read_together
from longmatch.documents.checks import file_status
from longmatch.documents.document import Document
from longmatch.documents.formats import container_named, container_of, may_crash, read_single, suffix_of
from longmatch.errors import ReadError

GROUP_BYTES = 8_000_000  # of members that are read together

Found: TypeAlias = Document | ReadError | str
"""What comes of reading: a document, what cannot be read, or a remark on what was left out."""


@dataclass(frozen=True)
class Member:
    """A part of a file that is read by itself; this one is the whole of a file of one document.

    `name` stands in addresses after the file's name and #, `size` is what it takes to read it: bytes, where known.
    Members travel to other processes and machines: one that cannot be read by its name from the file holds its bytes.
    """

    path: Path
    name: str = ""
    size: int = 0

    def documents(self, id: str) -> Iterator[Found]:
        """Read it; `id` is that of the file. May raise ReadError."""
        yield read_single(self.path, id)

    @classmethod
    def together(cls, members: "Sequence[Member]", id: str) -> Iterator[Found]:
        """Read some members of one file."""
        for member in members:
            yield from member.read(id)

    def read(self, id: str) -> Iterator[Found]:
        """Read it and raise nothing."""
        try:
            yield from self.documents(id)
        except ReadError as error:
            yield error

    def after_crash(self, id: str) -> Iterator[Found]:
        """What remains of it when the process that read it died."""
        yield crash(self.address)

    def may_hold(self, wanted: str) -> bool:
        """Whether the document with the address FILE#`wanted` may lie in it."""
        return not self.name or wanted == self.name or wanted.startswith(f"{self.name}#")

    def content(self, wanted: str) -> bytes | None:
        """The bytes of the file FILE#`wanted`, which is never written anywhere; None if it is not in this member."""
        return None

    @property
    def address(self) -> str:
        """Where it lies."""
        return f"{self.path}#{self.name}" if self.name else str(self.path)

    @property
    def may_crash(self) -> bool:
        """Whether a damaged one may end the process that reads it."""
        return may_crash(self.name or self.path.name)


@dataclass(frozen=True)
class Unread(Member):
    """A member that is not read, or something to say of the file as a whole."""

    said: ReadError | str = ""

    def documents(self, id: str) -> Iterator[Found]:
        """Only what is said of it."""
        yield self.said

    def may_hold(self, wanted: str) -> bool:
        """A file that cannot be read may have held everything."""
        return super().may_hold(wanted) if self.name else isinstance(self.said, ReadError)

    def content(self, wanted: str) -> bytes | None:
        """Raise what is wrong with it."""
        raise self.said if isinstance(self.said, ReadError) else missing(self.path, wanted)

    @property
    def may_crash(self) -> bool:
        """It is not opened."""
        return False


def members(path: Path) -> Iterator[Member]:
    """The members of a file, in order; of a file of one document, the file itself. Raises no ReadError."""
    container = container_of(path)
    if container is None:
        yield Member(path)
        return
    module = container.module if "." in container.module else f"longmatch.documents.{container.module}"
    try:
        yield from getattr(import_module(module), container.function)(path)
    except ReadError as error:
        yield Unread(path, said=error)


def documents_of(path: Path, id: str) -> Iterator[Found]:
    """The documents of a file, whether it holds one or many, and what is wrong with others."""
    for group in grouped(members(path)):
        yield from read_group(group, id)


def grouped(found: Iterable[Member], size: int = GROUP_BYTES) -> Iterator[tuple[Member, ...]]:
    """Members in order, in groups of one kind that are read together: of at most about `size` bytes, or one."""
    for _, run in groupby(found, type):
        group: list[Member] = []
        room = size
        for member in run:
            if group and member.size > room:
                yield tuple(group)
                group, room = [], size
            group.append(member)
            room -= member.size
        yield tuple(group)


def read_group(group: Sequence[Member], id: str) -> Iterator[Found]:
    """Read a group of members of the file `id`."""
    return type(group[0]).together(group, id)


def crash(path: object) -> ReadError:
    """What is said of a file whose reader died."""
    return ReadError(path, "crashed its reader", "The file is probably damaged; leave it out.")


def read_unpacked(
    parts: Iterable[tuple[str, Iterable[bytes]]],
    path: object,
    id: str,
    read_file: Callable[[Path, str], Iterator[Found]],
    packed: int,
) -> Iterator[Found]:
    """Unpack files given by name and content one at a time into a private folder, and read them like any others.

    Their documents get ids that begin with `ID#NAME`. `path` is the file that they lie in, where they take `packed`
    bytes; it limits what they may unpack to together.
    """
    room = Room(SHARED_ROOM + SHARED_RATIO * packed)
    with tempfile.TemporaryDirectory(prefix="longmatch-unpacked-") as folder:
        for name, content in parts:
            unpacked = Path(folder) / f"member{suffix_of(name)}"
            try:
                with unpacked.open("wb") as file:
                    file.writelines(content)
                for found in read_together(read_file(unpacked, f"{id}#{name}"), room):
                    yield _renamed(found, str(unpacked), path, name)
            except ReadError as error:
                yield _renamed(error, str(unpacked), path, name)
            except OSError as error:
                raise ReadError(path, f"cannot be unpacked ({error.strerror})", "Make room and try again.") from error


def _renamed(found: Found, unpacked: str, path: object, name: str) -> Found:
    """What was found in an unpacked file, as if it had been read where it lies."""
    if isinstance(found, Document):
        remarks = tuple(said.replace(unpacked, f"{path}#{name}") for said in found.remarks)
        return replace(found, source=str(path), remarks=remarks)
    if isinstance(found, ReadError):
        advice = found.advice.replace(unpacked, name)
        return ReadError(f"{path}#{name}", found.problem.replace(unpacked, name), advice)
    return found.replace(unpacked, f"{path}#{name}")


def passed_over(path: object, names: Sequence[str], what: str) -> str:
    """What is said of the files inside a file that are of no supported format.

    >>> passed_over("a.eml", ["b.xlsx"], "attachment")
    'a.eml has 1 attachment of a format that longmatch does not read: b.xlsx.'
    """
    listed = ", ".join(names[:5]) + (f" and {len(names) - 5:,} more" if len(names) > 5 else "")
    counted = f"{len(names):,} {what}{'s' * (len(names) != 1)}"
    return f"{path} has {counted} of a format that longmatch does not read: {listed}."


def member_of(id: str, source: str) -> str:
    """The name inside the file `source` of a document with this id; empty where the file is the document itself.

    >>> member_of("2019/all.zip#a/b.pdf", "/data/2019/all.zip"), member_of("a.pdf", "/data/a.pdf")
    ('a/b.pdf', '')
    """
    holder = Path(source).name
    return id.partition(f"{holder}#")[2] if container_named(holder) else ""


def shows_pages(id: str, source: str) -> bool:
    """Whether a document is a PDF, which may lie inside another file."""
    return (member_of(id, source) or source).lower().endswith(".pdf")


def member_content(path: Path, wanted: str) -> bytes:
    """The bytes of a file inside another, within the limits that reading has; it is never written anywhere."""
    file_status(path)
    for member in members(path):
        if member.may_hold(wanted) and (content := member.content(wanted)) is not None:
            return content
    raise missing(path, wanted)


def missing(path: object, wanted: str) -> ReadError:
    """What is said where a file no longer holds a member."""
    return ReadError(path, f"no longer holds {wanted}", "Index it again.")
