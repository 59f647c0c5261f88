"""ODT: headings by outline level, footnotes, tables and captions; tracked deletions are left out."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from longmatch.documents.archive import Archive, file_errors
from longmatch.documents.draft import Draft
from longmatch.documents.metadata import bibliography
from longmatch.documents.styled import (
    Role,
    StyledBlock,
    draft_styled,
    heading_level,
    line_emphasis,
    role_by_style,
    styled_table,
)
from longmatch.errors import ReadError

_SKIPPED = frozenset(
    [
        *("tracked-changes", "annotation", "ruby-text", "forms", "event-listeners", "note-citation", "bookmark"),
        *("table-of-content", "illustration-index", "table-index", "alphabetical-index", "user-index", "object-index"),
        *("sequence-decls", "variable-decls", "user-field-decls", "bibliography-source"),
    ]
)
_INLINE = frozenset({"p", "h", "span", "a"})
_CAPTIONS = frozenset({"caption", "illustration", "figure", "table", "drawing"})  # styles of captions
_MOST_SPACES = 100  # that one element may stand for


def read_odt(path: Path) -> Draft:
    """Read an OpenDocument text."""
    with Archive(path, "an ODT file") as archive, file_errors(path, "is damaged"):
        manifest = archive.xml("META-INF/manifest.xml")
        if manifest is not None and next(manifest.iter("encryption-data"), None) is not None:
            raise ReadError(path, "needs a password", "Save a copy without one.")
        content = archive.xml("content.xml")
        body = None if content is None else content.find("body")
        if content is None or body is None:
            raise ReadError(path, "is a zip file but not an ODT file", "Unpack it and name a file in it.")
        text = body.find("text")
        if text is None:
            raise ReadError(path, "is an OpenDocument file, but not a text", "Export it as PDF.")
        styles = _Styles(content, archive.xml("styles.xml"))
        meta = archive.xml("meta.xml")
        draft = draft_styled(list(_Reader(styles).blocks(text)), _property(meta, "title"))
        draft.metadata = _metadata(meta)
        return draft


def _property(meta: Element | None, tag: str) -> str:
    found = None if meta is None else next(meta.iter(tag), None)
    return "" if found is None else " ".join((found.text or "").split())


def _metadata(meta: Element | None) -> dict[str, Any]:
    author, keywords = (_property(meta, tag) for tag in ("initial-creator", "keyword"))
    defined = [element.text or "" for element in ([] if meta is None else meta.iter("user-defined"))]
    return bibliography(
        [author or _property(meta, "creator")],
        [_property(meta, "creation-date"), _property(meta, "date")],
        [*defined, _property(meta, "description"), _property(meta, "subject")],
        keywords=keywords,
    )


class _Styles:
    """Paragraph and character styles, resolved through the styles they are based on."""

    def __init__(self, *roots: Element | None) -> None:
        self._styles = {
            style.get("name", ""): style for root in roots if root is not None for style in root.iter("style")
        }
        self._chain = cache(self._resolved)

    def names(self, name: str) -> frozenset[str]:
        """The lower-case names of a style and of the styles it is based on."""
        chain = self._chain(name)
        shown = [style.get("display-name", "") or style.get("name", "") for style in chain]
        last = chain[-1].get("parent-style-name", "") if chain else name  # one that every office suite has
        return frozenset(name.replace("_20_", " ").lower() for name in (*shown, last) if name)

    def level(self, name: str) -> int:
        """The outline level of a style, 0 for none."""
        stated = (style.get("default-outline-level", "") for style in self._chain(name))
        level = next((int(text) for text in stated if text.isdecimal()), 0)
        return level or max(map(heading_level, self.names(name)), default=0)

    def is_bold(self, name: str) -> bool:
        """Whether a style sets bold type."""
        for style in self._chain(name):
            properties = style.find("text-properties")
            weight = "" if properties is None else properties.get("font-weight", "")
            if weight:
                return weight in {"bold", "700", "800", "900"}
        return False

    def _resolved(self, name: str) -> list[Element]:
        chain: list[Element] = []
        while name in self._styles and len(chain) < 20:  # a style may be based on itself
            chain.append(self._styles[name])
            name = chain[-1].get("parent-style-name", "")
        return chain


class _Reader:
    """Walks the body block by block."""

    def __init__(self, styles: _Styles) -> None:
        self._styles = styles

    def blocks(self, parent: Element) -> Iterator[StyledBlock]:
        """The blocks of a body, a cell, a list or a text box, in order."""
        for element in parent:
            if element.tag in {"p", "h"}:
                yield from self._paragraph(element)
            elif element.tag == "table":
                yield from styled_table([[list(self.blocks(cell)) for cell in row] for row in _rows(element)])
            elif element.tag == "bibliography":
                yield from (StyledBlock(block.text, "reference") for block in self.blocks(element))
            elif element.tag not in _SKIPPED:  # lists, sections, text boxes
                yield from self.blocks(element)

    def _paragraph(self, paragraph: Element) -> Iterator[StyledBlock]:
        boxes: list[Element] = []
        notes: list[Element] = []
        text = "".join(_text(paragraph, boxes, notes)).strip()
        if text:
            role, level = self._role(paragraph)
            emphasis = line_emphasis(text, self._is_bold(paragraph)) if role == "text" else ""
            yield StyledBlock(" ".join(text.split()) if role == "heading" else text, role, level, emphasis)
        for note in notes:
            yield StyledBlock(" ".join(" ".join(block.text.split()) for block in self.blocks(note)), "footnote")
        for box in boxes:
            yield from self.blocks(box)

    def _role(self, paragraph: Element) -> tuple[Role, int]:
        style = paragraph.get("style-name", "")
        names = self._styles.names(style)
        if paragraph.tag == "h":
            level = paragraph.get("outline-level", "1")
            return role_by_style(names, int(level) if level.isdecimal() and len(level) < 3 else 1)
        if "text body" not in names and names & _CAPTIONS:
            return "caption", 1
        return role_by_style(names, self._styles.level(style))

    def _is_bold(self, paragraph: Element) -> bool:
        if (paragraph.text or "").strip() or any((child.tail or "").strip() for child in paragraph):
            return self._styles.is_bold(paragraph.get("style-name", ""))
        spans = [span for span in paragraph.iter("span") if "".join(span.itertext()).strip()]
        return bool(spans) and all(self._styles.is_bold(span.get("style-name", "")) for span in spans)


def _rows(table: Element) -> Iterator[list[Element]]:
    """The cells of each row of a table, without those of tables in it."""
    for child in table:
        if child.tag == "table-row":
            yield [cell for cell in child if cell.tag == "table-cell"]
        elif child.tag in {"table-rows", "table-header-rows", "table-row-group"}:
            yield from _rows(child)


def _text(element: Element, boxes: list[Element], notes: list[Element]) -> Iterator[str]:
    """The characters of a paragraph; collects its text boxes in `boxes` and its notes in `notes`."""
    yield element.text or ""
    for child in element:
        tag = child.tag
        if tag == "s":
            count = child.get("c", "1")
            yield " " * (min(int(count), _MOST_SPACES) if count.isdecimal() and len(count) < 9 else 1)
        elif tag == "tab":
            yield "\t"
        elif tag == "line-break":
            yield "\n"
        elif tag == "note":
            notes.extend(child.findall("note-body"))
        elif tag == "text-box":
            boxes.append(child)
        elif tag not in _SKIPPED and (tag not in {"title", "desc"} or element.tag in _INLINE):  # not those of pictures
            yield from _text(child, boxes, notes)
        yield child.tail or ""
