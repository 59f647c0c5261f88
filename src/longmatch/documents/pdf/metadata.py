"""Author, year and DOI of a PDF: from its XMP packet, its info dictionary and its first page."""

import mmap
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from longmatch.documents.archive import TooDeep, parse_xml
from longmatch.documents.metadata import bibliography, doi_of, dois_in, year_of

_PACKET_START, _PACKET_END = b"<x:xmpmeta", b"</x:xmpmeta>"
_LARGEST_PACKET, _MOST_PACKETS = 1_000_000, 50  # bytes; pictures have packets too
_DATES = ("coverDate", "publicationDate", "publicationYear", "date")  # in XMP: PRISM, then Dublin Core
_CUT_DOI = re.compile(r"10\.\d{4,9}/\S{0,200}[./_-]\r?\n(?=[\da-z])")  # goes on in the next line
_DOIS = ("doi", "DOI", "identifier", "url", "source")


def pdf_metadata(path: Path, info: Mapping[str, str], first_page: str) -> dict[str, Any]:
    """The info dictionary as it is, with `author`, `year` and `doi` where they are known.

    The year in which a file was made is that of the document only if the first page shows it too, and a DOI on the
    first page is the document's only if there is no other.
    """
    xmp = _xmp(path)
    shown = dois_in(_CUT_DOI.sub(" ", first_page))
    stated = [text for name in _DOIS for text in _values(xmp, name)] + [info.get(n, "") for n in ("doi", "Subject")]
    made = year_of(info.get("CreationDate", ""))
    is_shown = made is not None and re.search(rf"(?<!\d){made}(?!\d)", first_page) is not None
    facts = bibliography(
        list(_values(xmp, "creator")) or [info.get("Author", "")],
        [*(text for name in _DATES for text in _values(xmp, name)), *([str(made)] if is_shown else [])],
        [*(text for text in stated if doi_of(text)), *(shown if len(shown) == 1 else [])],
    )
    return dict(info) | facts


def _xmp(path: Path) -> Element | None:
    """The XMP packet of the document itself, where it is not compressed; None if there is none, or several."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            packets: list[bytes] = []
            position = 0
            while len(packets) < _MOST_PACKETS:
                start = data.find(_PACKET_START, position)
                end = data.find(_PACKET_END, start, start + _LARGEST_PACKET) if start >= 0 else -1
                if end < 0:
                    break
                position = end + len(_PACKET_END)
                packets.append(data[start:position])
    except (OSError, ValueError):
        return None
    own = [packet for packet in packets if b"application/pdf" in packet or b"prismstandard" in packet]
    if not own and len(packets) != 1:
        return None
    try:
        return parse_xml((own or packets)[-1])  # a file that was changed has the newest at its end
    except (ParseError, TooDeep, ValueError, LookupError):
        return None


def _values(xmp: Element | None, name: str) -> Iterator[str]:
    """The values of a property, which may be an attribute, an element, or a list in one."""
    for element in [] if xmp is None else xmp.iter():
        if element.tag == name:
            items = list(element.iter("li"))
            yield from (" ".join((item.text or "").split()) for item in items or [element])
        elif element.tag == "Description" and name in element.attrib:
            yield element.attrib[name]
