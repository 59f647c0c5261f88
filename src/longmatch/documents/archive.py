"""Zip files from strangers: few members, of bounded size, compressed in the ordinary ways."""

import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar
from xml.etree.ElementTree import Element, ParseError

from longmatch.documents.checks import LARGEST_FILE, check_file
from longmatch.documents.safe_xml import TooDeep, TooMany, parse_xml
from longmatch.errors import ReadError

LARGEST_MEMBER = LARGEST_FILE  # after unpacking
LARGEST_TOTAL = 400_000_000  # bytes unpacked from one document
MOST_MEMBERS = 100_000
ORDINARY = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})  # the others unpack without a bound
SHARED_ROOM, SHARED_RATIO = 50_000_000, 100  # bytes that files inside a file may unpack to, and times their packed size
_SLICE = 1 << 20
_ENCRYPTED = 0x1  # flag of a member
_UNUSUAL = "It is not an ordinary document; leave it out."
T = TypeVar("T")
DAMAGE = (  # what a damaged zip file, or the XML in it, may raise
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    ParseError,
    EOFError,
    LookupError,  # an unknown encoding
    OSError,
    RuntimeError,
    ValueError,
)


@contextmanager
def file_errors(path: object, problem: str, advice: str = "Save it again from an office suite.") -> Iterator[None]:
    """Raise ReadError for whatever is wrong with a zip file or the XML in it."""
    try:
        yield
    except NotImplementedError as error:
        raise ReadError(path, "is compressed in a way that longmatch does not read", advice) from error
    except (TooDeep, RecursionError) as error:
        raise ReadError(path, "is nested too deep", _UNUSUAL) from error
    except TooMany as error:
        raise ReadError(path, "unpacks to a huge size", _UNUSUAL) from error
    except DAMAGE as error:
        raise ReadError(path, problem, advice) from error


@dataclass
class Room:
    """The bytes that may still be unpacked."""

    left: int


_rooms: ContextVar[tuple[Room, ...]] = ContextVar("_rooms", default=())  # of the files that the one being read lies in


def rooms(own: int) -> tuple[Room, ...]:
    """What a file may unpack to: `own` bytes, and what is left to the files that it lies in."""
    return (Room(own), *_rooms.get())


def take(taken: tuple[Room, ...], count: int) -> bool:
    """Take so many bytes of each; whether they were there."""
    for room in taken:
        room.left -= count
    return all(room.left >= 0 for room in taken)


def read_together(documents: Iterator[T], room: Room) -> Iterator[T]:
    """The documents of a file inside another one, whose files share the room."""
    while True:
        token = _rooms.set((room, *_rooms.get()))
        try:
            document = next(documents, None)
        finally:
            _rooms.reset(token)
        if document is None:
            return
        yield document


class Archive:
    """A zip file that is read member by member, within limits.

    `kind` is what it should be, as `an EPUB file`; at most `total` bytes are unpacked, else LARGEST_TOTAL.
    """

    def __init__(self, path: Path, kind: str, total: int | None = None) -> None:
        check_file(path)
        self.path = path
        with file_errors(path, f"is damaged or not {kind}", "Get a fresh copy, or give it the right file extension."):
            self._zip = zipfile.ZipFile(path)
        self._members = {info.filename: info for info in self._zip.infolist()}
        self._rooms = rooms(LARGEST_TOTAL if total is None else total)
        if len(self._members) > MOST_MEMBERS:
            raise ReadError(path, f"holds more than {MOST_MEMBERS:,} files", _UNUSUAL)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __contains__(self, name: object) -> bool:
        return name in self._members

    @property
    def names(self) -> list[str]:
        """The names of its members, in order."""
        return list(self._members)

    @property
    def total_size(self) -> int:
        """The bytes of all members after unpacking, as the file states them."""
        return sum(info.file_size for info in self._members.values())

    def size(self, name: str) -> int:
        """The bytes of a member after unpacking, as the file states them."""
        return self._members[name].file_size

    def read(self, name: str) -> bytes:
        """Unpack a member."""
        return b"".join(self.slices(name))

    def slices(self, name: str) -> Iterator[bytes]:
        """Unpack a member bit by bit."""
        info = self._members[name]
        if info.flag_bits & _ENCRYPTED:
            raise ReadError(self.path, "needs a password", "Save a copy without one.")
        if info.compress_type not in ORDINARY:
            raise ReadError(self.path, "is compressed in a way that longmatch does not read", "Zip it again.")
        if info.file_size > LARGEST_MEMBER:
            raise ReadError(self.path, "unpacks to a huge size", _UNUSUAL)
        with file_errors(self.path, f"is damaged ({name})", "Get a fresh copy."), self._zip.open(info) as member:
            while part := member.read(_SLICE):
                if not take(self._rooms, len(part)):
                    break
                yield part
            else:
                return
        raise ReadError(self.path, "unpacks to a huge size", _UNUSUAL)

    def packed_size(self, name: str) -> int:
        """The bytes of a member in the file."""
        return self._members[name].compress_size

    def xml(self, name: str) -> Element | None:
        """Parse a member; None if there is none of that name."""
        if name not in self._members:
            return None
        data = self.read(name)
        with file_errors(self.path, f"is damaged ({name})"):
            return parse_xml(data)

    def close(self) -> None:
        """Close the file."""
        self._zip.close()


def resolve(folder: str, target: str) -> str:
    """The name of a part that is named relative to a folder.

    >>> resolve("ppt/slides", "../notes/1.xml"), resolve("ppt", "/docProps/core.xml")
    ('ppt/notes/1.xml', 'docProps/core.xml')
    """
    steps: list[str] = [] if target.startswith("/") else [step for step in folder.split("/") if step]
    for step in target.split("/"):
        if step == "..":
            steps = steps[:-1]
        elif step not in {"", "."}:
            steps.append(step)
    return "/".join(steps)
