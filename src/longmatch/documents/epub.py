"""EPUB: the chapters in reading order, each a page of HTML; the table of contents names those without a heading."""

from contextlib import suppress
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
_NOT_EPUB = "is a zip file but not an EPUB file"


def read_epub(path: Path) -> Draft:
    """Read an EPUB file."""
    with Archive(path, "an EPUB file") as archive, file_errors(path, "is damaged", "Get a fresh copy."):
        book = _Book(archive)
        encrypted = _encrypted(archive)
        draft = Draft(title=book.text("title"), metadata=book.metadata())
        names = book.chapter_names()
        for chapter in book.chapters():
            if chapter in encrypted:
                raise ReadError(path, "is protected against reading", "Get a copy without copy protection.")
            if chapter in archive:
                _add_chapter(draft, archive, chapter, names.get(chapter, ""))
        return draft


def _add_chapter(draft: Draft, archive: Archive, chapter: str, name: str) -> None:
    data = archive.read(chapter)
    if not data.strip():
        return
    page = parse_page(decode_html(data, archive.path))
    if name and page.blocks and not any(block.kind == "heading" for block in page.blocks):
        draft.heading(name)
    page.add_to(draft)


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
        items = (self._items.get(reference.get("idref", "")) for reference in self._package.iter("itemref"))
        pages = (item for item in items if item is not None and item.get("media-type") in _PAGES)
        shown = (self._member(item) for item in pages if "nav" not in item.get("properties", "").split())
        return list(dict.fromkeys(shown))

    def chapter_names(self) -> dict[str, str]:
        """The entries of the table of contents that name a whole member (EPUB 2: NCX, EPUB 3: navigation document)."""
        names: dict[str, str] = {}
        for item in self._items.values():
            member = self._member(item)
            if member not in self._archive:
                continue
            with suppress(ReadError):  # a book without a table of contents is still a book
                if item.get("media-type") == "application/x-dtbncx+xml":
                    names |= _ncx_entries(self._archive.xml(member), member)
                elif "nav" in item.get("properties", "").split():
                    names |= _navigation_entries(self._archive.xml(member), member)
        return names

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


def _ncx_entries(root: Element | None, member: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for point in [] if root is None else root.iter("navPoint"):
        content = point.find("content")
        if content is not None:
            _enter(found, member, content.get("src", ""), point.findtext("navLabel/text") or "")
    return found


def _navigation_entries(root: Element | None, member: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for nav in [] if root is None else root.iter("nav"):
        if nav.get("type", "toc") == "toc":
            for link in nav.iter("a"):
                _enter(found, member, link.get("href", ""), _text(link))
    return found


def _enter(found: dict[str, str], member: str, target: str, name: str) -> None:
    """Note the first name of a member."""
    file = target.partition("#")[0]
    if file:
        found.setdefault(resolve(member.rpartition("/")[0], unquote(file)), " ".join(name.split()))


def _text(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())
