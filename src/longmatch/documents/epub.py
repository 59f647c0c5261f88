"""EPUB: the chapters in reading order, each a page of HTML; the table of contents names those without a heading."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from longmatch.documents.archive import Archive, file_errors, resolve
from longmatch.documents.draft import Draft
from longmatch.documents.html import decode_html, parse_page
from longmatch.documents.metadata import bibliography
from longmatch.errors import ReadError

_PAGES = frozenset({"application/xhtml+xml", "text/html", "text/x-oeb1-document", "application/x-dtbook+xml"})
_OBFUSCATED_FONTS = frozenset({"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"})
_NO_TITLES = frozenset({"unknown", "unknown title", "untitled", "[no title]", "no title"})
_NOT_EPUB = "is a zip file but not an EPUB file"


@dataclass(frozen=True)
class _Entry:
    """A line of the table of contents."""

    name: str
    level: int
    is_whole: bool  # stands for a whole member, not for a place in it


def read_epub(path: Path) -> Draft:
    """Read an EPUB file."""
    with Archive(path, "an EPUB file") as archive, file_errors(path, "is damaged", "Get a fresh copy."):
        book = _Book(archive)
        encrypted = _encrypted(archive)
        title = book.text("title")
        draft = Draft(title="" if title.lower() in _NO_TITLES else title, metadata=book.metadata())
        entries = book.contents()
        for chapter in book.chapters():
            if chapter in encrypted:
                raise ReadError(path, "is protected against reading", "Get a copy without copy protection.")
            data = archive.read(chapter) if chapter in archive else b""
            if not data.strip():
                continue
            page = parse_page(decode_html(data, archive.path))
            named = entries.get(chapter, [])
            if page.blocks and not any(block.kind == "heading" for block in page.blocks):
                levels = {entry.name: entry.level for entry in named}
                for block in page.blocks:  # paragraphs that the table of contents names
                    if block.kind == "text" and (level := levels.get(block.text)):
                        block.kind, block.level = "heading", level
                if named and named[0].is_whole and named[0].name not in (block.text for block in page.blocks):
                    draft.heading(named[0].name, named[0].level)
            page.add_to(draft)
        return draft


def _encrypted(archive: Archive) -> set[str]:
    """The members that are encrypted; fonts that are only scrambled do not count."""
    listed = archive.xml("META-INF/encryption.xml")
    found: set[str] = set()
    for data in [] if listed is None else listed.iter("EncryptedData"):
        method, reference = data.find("EncryptionMethod"), data.find("CipherData/CipherReference")
        algorithm = "" if method is None else method.get("Algorithm", "")
        if algorithm not in _OBFUSCATED_FONTS and reference is not None:
            found.add(unquote(reference.get("URI", "")).lstrip("/"))
    return found


class _Book:
    """The package document: metadata, what files there are, and their order."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        container = archive.xml("META-INF/container.xml")
        root = None if container is None else next(container.iter("rootfile"), None)
        name = "" if root is None else unquote(root.get("full-path", "")).lstrip("/")
        package = archive.xml(name)
        if package is None:
            raise ReadError(archive.path, _NOT_EPUB, "Unpack it and name a file in it.")
        self._folder = name.rpartition("/")[0]
        self._package = package
        self._items = {item.get("id", ""): item for item in package.iter("item")}

    def chapters(self) -> list[str]:
        """The members with text, in reading order, each once."""
        members: list[str] = []
        for reference in self._package.iter("itemref"):
            item = self._items.get(reference.get("idref", ""))
            if (
                item is not None
                and item.get("media-type") in _PAGES
                and "nav" not in item.get("properties", "").split()
            ):
                members.append(self._member(item))
        return list(dict.fromkeys(members))

    def contents(self) -> dict[str, list[_Entry]]:
        """The table of contents by member (EPUB 2: NCX, EPUB 3: navigation document)."""
        found: dict[str, list[_Entry]] = {}
        items = self._items.values()
        ncx = next((item for item in items if item.get("media-type") == "application/x-dtbncx+xml"), None)
        navigation = next((item for item in items if "nav" in item.get("properties", "").split()), None)
        for item in (navigation, ncx):
            member = "" if item is None else self._member(item)
            if member not in self._archive or found:
                continue
            with suppress(ReadError):  # a book without a table of contents is still a book
                root = self._archive.xml(member)
                if root is None:
                    continue
                tops = [nav for nav in root.iter("nav") if nav.get("type", "toc") == "toc"]
                listed = (line for nav in tops for top in nav.findall("ol") for line in _list_lines(top, 1))
                for target, name, level in _ncx_lines(root, 1) if item is ncx else listed:
                    file, _, place = target.partition("#")
                    entry = _Entry(" ".join(name.split()), level, not place)
                    found.setdefault(resolve(member.rpartition("/")[0], unquote(file)), []).append(entry)
        return found

    def text(self, tag: str) -> str:
        """The first element of that name in the metadata."""
        return next((text for element in self._elements(tag) if (text := _text(element))), "")

    def metadata(self) -> dict[str, object]:
        """Author, year, DOI and publisher."""
        roles = {
            element.get("refines", "").lstrip("#"): _text(element)
            for element in self._elements("meta")
            if element.get("property") == "role"
        }
        creators = [
            _text(element)
            for element in self._elements("creator")
            if (element.get("role") or roles.get(element.get("id", "")) or "aut") == "aut"
        ]
        dates = sorted(self._elements("date"), key=lambda date: date.get("event", "publication") != "publication")
        dated = [_text(date) for date in dates if date.get("event") != "modification"]
        identifiers = [_text(element) for tag in ("identifier", "source") for element in self._elements(tag)]
        return bibliography(creators, dated, identifiers, publisher=self.text("publisher"))

    def _elements(self, tag: str) -> list[Element]:
        metadata = self._package.find("metadata")
        return [] if metadata is None else list(metadata.iter(tag))

    def _member(self, item: Element) -> str:
        return resolve(self._folder, unquote(item.get("href", "")))


def _ncx_lines(parent: Element, level: int) -> Iterator[tuple[str, str, int]]:
    """Target, name and level of each entry."""
    for point in parent.findall("navMap/navPoint" if level == 1 else "navPoint"):
        content = point.find("content")
        if content is not None:
            yield content.get("src", ""), point.findtext("navLabel/text") or "", level
        yield from _ncx_lines(point, level + 1)


def _list_lines(parent: Element, level: int) -> Iterator[tuple[str, str, int]]:
    """The same of a navigation document."""
    for item in parent.findall("li"):
        link = item.find("a")
        if link is not None:
            yield link.get("href", ""), _text(link), level
        for inner in item.findall("ol"):
            yield from _list_lines(inner, level + 1)


def _text(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())
