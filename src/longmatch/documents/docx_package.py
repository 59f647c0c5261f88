"""A DOCX file as a package: its parts, parsed safely, and its paragraph styles."""

import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

from longmatch.documents.checks import check_file
from longmatch.errors import ReadError

LARGEST_PART = 100_000_000  # bytes after unpacking, about a hundred times a long book
_OLE_MAGIC = b"\xd0\xcf\x11\xe0"  # the container of .doc files and of encrypted .docx files
_HEADING_NAME = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|заголовок|标题|標題|見出し|kop|rubrik|nagłówek|otsikko|overskrift)\s*(\d)"
)


_DAMAGE = (
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
def _package_errors(path: Path, problem: str) -> Iterator[None]:
    """Raise ReadError for whatever is wrong with a zip file or the XML in it."""
    advice = "Save it again from an office suite."
    try:
        yield
    except NotImplementedError as error:
        raise ReadError(path, "is compressed in a way that longmatch does not read", advice) from error
    except _DAMAGE as error:
        raise ReadError(path, problem, advice) from error


def _first_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(4)
    except OSError as error:
        raise ReadError(path, f"cannot be opened ({error.strerror})", "Check its permissions.") from error


class _NoEntities(TreeBuilder):
    """Builds the tree; rejects a document type declaration, the only place where entities can be defined."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise ParseError(f"document type {name} is not allowed")


def parse_xml(data: bytes) -> Element:
    """Parse XML and strip namespaces: `w:p` becomes `p` in every version of the standard."""
    parser = XMLParser(target=_NoEntities())
    parser.feed(data)
    root: Element = parser.close()
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        element.attrib = {name.rpartition("}")[2]: value for name, value in element.attrib.items()}
    return root


class Package:
    """The parts of a DOCX file. Raises ReadError for any other file."""

    def __init__(self, path: Path) -> None:
        check_file(path)
        if _first_bytes(path) == _OLE_MAGIC:
            raise ReadError(
                path, "is encrypted, or an old .doc file", "Open it in an office suite and save it as .docx, unlocked."
            )
        self.path = path
        with _package_errors(path, "is damaged or not a DOCX file"):
            self._zip = zipfile.ZipFile(path)
        self.main = self._main_part()
        if self.main not in self._zip.namelist():
            raise ReadError(path, "is a zip file but not a DOCX file", "Unpack it and name a file in it.")

    def part(self, name: str) -> Element | None:
        """Parse a part; None if the package has no such part."""
        if name not in self._zip.namelist():
            return None
        info = self._zip.getinfo(name)
        if info.file_size > LARGEST_PART:
            raise ReadError(self.path, "unpacks to a huge size", "It is not an ordinary document; leave it out.")
        with _package_errors(self.path, f"is damaged ({name})"), self._zip.open(info) as file:
            return parse_xml(file.read(LARGEST_PART))

    def sibling_part(self, name: str) -> Element | None:
        """Parse a part in the folder of the main part, such as styles.xml."""
        folder = self.main.rpartition("/")[0]
        return self.part(f"{folder}/{name}" if folder else name)

    def close(self) -> None:
        """Close the file."""
        self._zip.close()

    def _main_part(self) -> str:
        relationships = self.part("_rels/.rels")
        for relationship in [] if relationships is None else relationships:
            if relationship.get("Type", "").endswith("/officeDocument"):
                return relationship.get("Target", "").lstrip("/")
        return "word/document.xml"


@dataclass(frozen=True)
class Style:
    """A paragraph style: its name, the style it is based on, the outline level it sets (0 is the top)."""

    name: str
    parent: str
    outline: int | None


class Styles:
    """The paragraph styles of a document, resolved through the styles they are based on."""

    def __init__(self, root: Element | None) -> None:
        self._styles: dict[str, Style] = {}
        for style in [] if root is None else root.iter("style"):
            outline = value(style.find("pPr/outlineLvl"))
            self._styles[style.get("styleId", "")] = Style(
                value(style.find("name")).lower(),
                value(style.find("basedOn")),
                int(outline) if outline.isdigit() else None,
            )
        self.names = cache(self._names)
        self.level = cache(self._level)

    def _chain(self, id: str) -> list[Style]:
        chain: list[Style] = []
        while id in self._styles and len(chain) < 20:  # a style may be based on itself
            chain.append(self._styles[id])
            id = chain[-1].parent
        return chain

    def _names(self, id: str) -> frozenset[str]:
        """The lower-case names of a style and of the styles it is based on."""
        return frozenset(style.name for style in self._chain(id)) or frozenset({id.lower()})

    def _level(self, id: str) -> int:
        """The heading level of a style, 0 if it is not a heading."""
        for style in self._chain(id) or [Style(id.lower(), "", None)]:
            if style.outline is not None:
                return style.outline + 1 if style.outline < 9 else 0
            if match := _HEADING_NAME.fullmatch(style.name):
                return int(match[1])
        return 0


def value(element: Element | None) -> str:
    """The `val` attribute; empty if the element is missing."""
    return "" if element is None else element.get("val", "")


def is_on(element: Element | None) -> bool:
    """Whether a toggle property such as bold is set."""
    return element is not None and element.get("val", "true") not in {"0", "false", "off", "none"}
