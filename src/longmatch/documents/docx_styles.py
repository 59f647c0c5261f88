"""The paragraph styles of a DOCX file, and the attributes that all of its elements share."""

from dataclasses import dataclass
from functools import cache
from xml.etree.ElementTree import Element

from longmatch.documents.styled import heading_level


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
            if level := heading_level(style.name):
                return level
        return 0


def value(element: Element | None) -> str:
    """The `val` attribute; empty if the element is missing."""
    return "" if element is None else element.get("val", "")


def is_on(element: Element | None) -> bool:
    """Whether a toggle property such as bold is set."""
    return element is not None and element.get("val", "true") not in {"0", "false", "off", "none"}
