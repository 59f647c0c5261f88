"""ODT: headings by outline level, footnotes, tables and captions; tracked deletions are left out."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

from longmatch.documents.archive import Archive, file_errors
from longmatch.documents.draft import Draft
from longmatch.documents.metadata import bibliography
from longmatch.documents.styled import (
    StyledBlock,
    draft_styled,
    heading_level,
    inherited,
    line_emphasis,
    note_block,
    role_by_style,
    styled_table,
)
from longmatch.errors import ReadError

_SKIPPED_NAMES = """
tracked-changes annotation ruby-text forms event-listeners note-citation bookmark table-of-content
illustration-index table-index alphabetical-index user-index object-index sequence-decls variable-decls user-field-decls
bibliography-source
"""
_SKIPPED = frozenset(_SKIPPED_NAMES.split())
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
        meta, styles = archive.xml("meta.xml"), archive.xml("styles.xml")
        facts: dict[str, str] = {}
        for element in () if meta is None else meta.iter():
            facts.setdefault(element.tag, " ".join((element.text or "").split()))
        draft = draft_styled(list(_Reader(content, styles).blocks(text)), facts.get("title", ""))
        defined = [element.text or "" for element in ([] if meta is None else meta.iter("user-defined"))]
        draft.metadata = bibliography(
            [facts.get("initial-creator") or facts.get("creator", "")],
            [facts.get("creation-date", ""), facts.get("date", "")],
            [*defined, facts.get("description", ""), facts.get("subject", "")],
            keywords=facts.get("keyword", ""),
        )
        return draft


class _Style(NamedTuple):
    """A paragraph or character style, resolved through the styles it is based on."""

    names: frozenset[str]  # its own and theirs, in lower case
    level: int  # in the outline, 0 for none
    is_bold: bool


class _Reader:
    """Walks the body block by block."""

    def __init__(self, *roots: Element | None) -> None:
        self._styles = {
            style.get("name", ""): style for root in roots if root is not None for style in root.iter("style")
        }
        self._style = cache(self._resolved)

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
            names, level, _ = self._style(paragraph.get("style-name", ""))
            if paragraph.tag == "h":
                stated = paragraph.get("outline-level", "1")
                level = int(stated) if stated.isdecimal() and len(stated) < 3 else 1
            role, level = role_by_style(names, level)
            if paragraph.tag == "p" and "text body" not in names and names & _CAPTIONS:
                role, level = "caption", 1
            emphasis = line_emphasis(text, self._is_bold(paragraph)) if role == "text" else ""
            yield StyledBlock(text, role, level, emphasis)
        for note in notes:
            yield note_block(self.blocks(note))
        for box in boxes:
            yield from self.blocks(box)

    def _resolved(self, name: str) -> _Style:
        chain = inherited(self._styles, name, lambda style: style.get("parent-style-name", ""))
        shown = [style.get("display-name", "") or style.get("name", "") for style in chain]
        last = chain[-1].get("parent-style-name", "") if chain else name  # one that every office suite has
        names = frozenset(name.replace("_20_", " ").lower() for name in (*shown, last) if name)
        stated = (style.get("default-outline-level", "") for style in chain)
        level = next((int(text) for text in stated if text.isdecimal()), 0)
        properties = (found for style in chain for found in style.findall("text-properties"))
        weight = next(filter(None, (found.get("font-weight", "") for found in properties)), "")
        level = level or max(map(heading_level, names), default=0)
        return _Style(names, level, is_bold=weight in {"bold", "700", "800", "900"})

    def _is_bold(self, paragraph: Element) -> bool:
        """Whether all of a paragraph is in bold type."""
        elements = [paragraph]
        if not (paragraph.text or "").strip() and not any((child.tail or "").strip() for child in paragraph):
            elements = [span for span in paragraph.iter("span") if "".join(span.itertext()).strip()]
        return bool(elements) and all(self._style(element.get("style-name", "")).is_bold for element in elements)


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
