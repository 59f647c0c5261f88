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


@dataclass(frozen=True)
class _Entry:
    """A line of the table of contents."""

    name: str
    level: int
    is_whole: bool  # stands for a whole member, not for a place in it


def read_epub(path: Path) -> Draft:
    """Read an EPUB file."""
    with Archive(path, "an EPUB file") as archive, file_errors(path, "is damaged", "Get a fresh copy."):
        container = archive.xml("META-INF/container.xml")
        root = None if container is None else next(container.iter("rootfile"), None)
        name = "" if root is None else unquote(root.get("full-path", "")).lstrip("/")
        package = archive.xml(name)  # what files there are, and their order
        if package is None:
            raise ReadError(path, "is a zip file but not an EPUB file", "Unpack it and name a file in it.")
        items = {item.get("id", ""): item for item in package.iter("item")}
        for item in items.values():
            item.set("href", resolve(name.rpartition("/")[0], unquote(item.get("href", ""))))
        encrypted = _encrypted(archive)
        draft = _draft_metadata(package)
        entries = _contents(archive, list(items.values()))
        references = (items.get(reference.get("idref", "")) for reference in package.iter("itemref"))
        pages = [item for item in references if item is not None and item.get("media-type") in _PAGES]
        for chapter in dict.fromkeys(item.get("href", "") for item in pages if not _is_navigation(item)):
            if chapter in encrypted:
                raise ReadError(path, "is protected against reading", "Get a copy without copy protection.")
            data = archive.read(chapter) if chapter in archive else b""
            if not data.strip():
                continue
            page = parse_page(decode_html(data, path))
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


def _draft_metadata(package: Element) -> Draft:
    """A draft with the title, unless a program made it up, and with author, year, DOI and publisher."""
    metadata = package.find("metadata")
    texts: dict[str, list[str]] = {}
    creators, dates = [], []
    roles: dict[str, str] = {}
    elements = [] if metadata is None else list(metadata.iter())
    for element in elements:
        texts.setdefault(element.tag, []).append(_text(element))
        if element.tag == "meta" and element.get("property") == "role":
            roles[element.get("refines", "").lstrip("#")] = _text(element)
    for element in elements:
        role = element.get("role") or roles.get(element.get("id", "")) or "aut"
        if element.tag == "creator" and role == "aut":
            creators.append(_text(element))
        elif element.tag == "date" and element.get("event") != "modification":
            dates.append((element.get("event", "publication") != "publication", _text(element)))
    dated = [text for _, text in sorted(dates, key=lambda date: date[0])]
    title, publisher = (next(filter(None, texts.get(tag, ())), "") for tag in ("title", "publisher"))
    identifiers = [*texts.get("identifier", ()), *texts.get("source", ())]
    facts = bibliography(creators, dated, identifiers, publisher=publisher)
    return Draft(title="" if title.lower() in _NO_TITLES else title, metadata=facts)


def _is_navigation(item: Element) -> bool:
    return "nav" in item.get("properties", "").split()


def _contents(archive: Archive, items: list[Element]) -> dict[str, list[_Entry]]:
    """The table of contents by member (EPUB 2: NCX, EPUB 3: navigation document)."""
    found: dict[str, list[_Entry]] = {}
    ncx = next((item for item in items if item.get("media-type") == "application/x-dtbncx+xml"), None)
    for item in (next(filter(_is_navigation, items), None), ncx):
        member = "" if item is None else item.get("href", "")
        if member not in archive or found:
            continue
        with suppress(ReadError):  # a book without a table of contents is still a book
            root = archive.xml(member)
            if root is None:
                continue
            tops = [nav for nav in root.iter("nav") if nav.get("type", "toc") == "toc"]
            listed = (line for nav in tops for top in nav.findall("ol") for line in _list_lines(top, 1))
            for target, name, level in _ncx_lines(root, 1) if item is ncx else listed:
                file, _, place = target.partition("#")
                entry = _Entry(" ".join(name.split()), level, not place)
                found.setdefault(resolve(member.rpartition("/")[0], unquote(file)), []).append(entry)
    return found


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
