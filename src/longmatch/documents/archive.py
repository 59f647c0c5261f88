"""Zip files and the XML in them, from strangers: few members, of bounded size, compressed in the ordinary ways."""

import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from html.entities import html5
from pathlib import Path
from posixpath import join, normpath
from typing import Self, TypeVar
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser
from xml.parsers import expat

from longmatch.documents.checks import LARGEST_FILE, check_file, first_bytes
from longmatch.errors import ReadError

DEEPEST = 250  # elements inside each other; office suites and publishers stay below fifty
MOST_ELEMENTS = 2_000_000  # each takes memory that its few bytes do not show; a long book has some hundred thousand
_NAMED = {name.removesuffix(";"): text for name, text in html5.items() if name.endswith(";")}
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
_OLE_MAGIC = b"\xd0\xcf\x11\xe0"  # the container of .doc and .ppt files and of encrypted ones


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
        self.members = {info.filename: info for info in self._zip.infolist()}  # in order
        self._rooms = rooms(LARGEST_TOTAL if total is None else total)
        if len(self.members) > MOST_MEMBERS:
            raise ReadError(path, f"holds more than {MOST_MEMBERS:,} files", _UNUSUAL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._zip.close()

    def __contains__(self, name: object) -> bool:
        return name in self.members

    def read(self, name: str) -> bytes:
        """Unpack a member."""
        return b"".join(self.slices(name))

    def slices(self, name: str) -> Iterator[bytes]:
        """Unpack a member bit by bit."""
        info = self.members[name]
        if info.flag_bits & _ENCRYPTED:
            raise ReadError(self.path, "needs a password", "Save a copy without one.")
        if info.compress_type not in ORDINARY:
            raise ReadError(self.path, "is compressed in a way that longmatch does not read", "Zip it again.")
        if info.file_size > LARGEST_MEMBER:
            raise ReadError(self.path, "unpacks to a huge size", _UNUSUAL)
        with file_errors(self.path, f"is damaged ({name})", "Get a fresh copy."), self._zip.open(info) as member:
            while part := member.read(_SLICE):
                if not take(self._rooms, len(part)):
                    raise ReadError(self.path, "unpacks to a huge size", _UNUSUAL)
                yield part

    def xml(self, name: str) -> Element | None:
        """Parse a member; None if there is none of that name."""
        if name not in self.members:
            return None
        data = self.read(name)
        with file_errors(self.path, f"is damaged ({name})"):
            return parse_xml(data)


def resolve(folder: str, target: str) -> str:
    """The name of a part that is named relative to a folder.

    >>> resolve("ppt/slides", "../notes/1.xml"), resolve("ppt", "/docProps/core.xml")
    ('ppt/notes/1.xml', 'docProps/core.xml')
    """
    return normpath(join("/", folder, target)).lstrip("/")


class TooDeep(ValueError):
    """Elements nested deeper than in any ordinary document."""


class TooMany(ValueError):
    """More elements than any ordinary document has."""


def parse_xml(data: bytes) -> Element:
    """Parse XML and strip namespaces: `w:p` becomes `p` in every version of the standard. Of two attributes that then
    have one name, the one that has a namespace keeps it.

    A document type may be named, as journals do, but is not fetched; named characters such as `&nbsp;` are known
    without it. Raises ParseError where a document defines entities, TooDeep where it is nested too deeply.

    >>> parse_xml(b"<!DOCTYPE p SYSTEM 'p.dtd'><x:p xmlns:x='urn:x'>a&alpha;</x:p>").text
    'aα'
    """
    _refuse_entities(data)
    parser = XMLParser(target=_BoundedBuilder())
    parser.entity.update(_NAMED)
    parser.feed(data)
    root: Element = parser.close()
    for element in root.iter():
        element.tag = _local(element.tag)
        given = element.attrib
        element.attrib = {key if (local := _local(key)) in given else local: given[key] for key in given}
    return root


def _local(name: str) -> str:
    return name.rpartition("}")[2]


class _BoundedBuilder(TreeBuilder):
    """Builds the tree, as deep as is ordinary."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = self._count = 0

    def start(self, tag: str, attrs: dict[str, str], /) -> Element:
        self._depth += 1
        self._count += 1
        if self._count > MOST_ELEMENTS:
            raise TooMany(f"more than {MOST_ELEMENTS:,} elements")
        if self._depth > DEEPEST:
            raise TooDeep(f"more than {DEEPEST} elements inside each other")
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> Element:
        self._depth -= 1
        return super().end(tag)


class _RootReached(Exception):
    """The prolog, the only place where entities can be defined, is over."""


def _refuse_entities(data: bytes) -> None:
    def on_entity(name: str, *declared: object) -> None:
        if declared[-1] is None:  # no notation: others name a picture beside the file, and stand for no text
            raise ParseError(f"the entity {name} is not allowed")

    def on_root(*_: object) -> None:
        raise _RootReached

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = on_entity
    parser.StartElementHandler = on_root
    try:
        parser.Parse(data, True)
    except _RootReached:
        return
    except expat.ExpatError as error:
        raise ParseError(str(error)) from error


class Package(Archive):
    """The parts of an office file. `kind` is DOCX or PPTX, `main` the usual name of its main part."""

    def __init__(self, path: Path, kind: str, main: str) -> None:
        check_file(path)
        if first_bytes(path, 4) == _OLE_MAGIC:
            suffix = f".{kind.lower()}"
            advice = f"Open it in an office suite and save it as {suffix}, unlocked."
            raise ReadError(path, f"is encrypted, or an old {suffix[:-1]} file", advice)
        super().__init__(path, f"a {kind} file")
        self.main = self._target("officeDocument") or main
        if self.main not in self:
            raise ReadError(path, f"is a zip file but not a {kind} file", "Unpack it and name a file in it.")

    def sibling_part(self, name: str) -> Element | None:
        """Parse a part in the folder of the main part, such as styles.xml."""
        folder = self.main.rpartition("/")[0]
        return self.xml(f"{folder}/{name}" if folder else name)

    def related(self, part: str) -> dict[str, tuple[str, str]]:
        """What a part refers to: id -> the last word of the relationship's type, and the name of the other part."""
        folder, _, name = part.rpartition("/")
        relationships = self.xml(f"{folder}/_rels/{name}.rels" if folder else f"_rels/{name}.rels")
        return {
            found.get("Id", ""): (found.get("Type", "").rpartition("/")[2], resolve(folder, found.get("Target", "")))
            for found in (() if relationships is None else relationships)
            if found.get("TargetMode") != "External"
        }

    def properties(self) -> dict[str, str]:
        """The document properties by their local names: title, creator, created and others."""
        core = self.xml(self._target("core-properties") or "docProps/core.xml")
        return {} if core is None else {item.tag: " ".join((item.text or "").split()) for item in core}

    def _target(self, kind: str) -> str:
        return next((target for name, target in self.related("").values() if name == kind), "")
