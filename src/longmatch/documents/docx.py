"""DOCX: headings by style, footnotes, tables and captions; tracked changes count as accepted."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from xml.etree.ElementTree import Element

from longmatch.documents.archive import Package, file_errors
from longmatch.documents.draft import Draft
from longmatch.documents.metadata import office_metadata
from longmatch.documents.styled import (
    Emphasis,
    Role,
    StyledBlock,
    draft_styled,
    heading_level,
    line_emphasis,
    role_by_style,
    styled_table,
)

_SKIPPED = {"del", "moveFrom", "instrText", "delText", "rt", "pPr", "rPr", "tblPr", "commentReference", "annotationRef"}
_CHARACTERS = {
    "tab": "\t",
    "ptab": "\t",
    "br": "\n",
    "cr": "\n",
    "noBreakHyphen": "-",
    "footnoteReference": "",
    "sym": " ",
}
_DEFAULT_SIZE = 22  # half points
_LARGER = 1.2  # times the running text's size: set apart from it


def read_docx(path: Path) -> Draft:
    """Read a DOCX file."""
    with Package(path, "DOCX", "word/document.xml") as package, file_errors(path, "is damaged"):
        root = package.xml(package.main)
        body = None if root is None else root.find("body")
        blocks = list(_Reader(package, body).blocks(body)) if body is not None else []
        properties = package.properties()
        draft = draft_styled(blocks, properties.get("title", ""))
        draft.metadata = office_metadata(properties)
        return draft


class _Reader:
    """Walks the body block by block."""

    def __init__(self, package: Package, body: Element) -> None:
        self._body_size = _body_size(body)
        self._styles = Styles(package.sibling_part("styles.xml"))
        self._notes = {
            f"{kind}{note.get('id')}": note
            for kind in ("footnote", "endnote")
            for note in package.sibling_part(f"{kind}s.xml") or ()
            if note.get("type") not in {"separator", "continuationSeparator", "continuationNotice"}
        }

    def blocks(self, parent: Element) -> Iterator[StyledBlock]:
        """The blocks of a body, a cell or a text box, in order."""
        for element in parent:
            if element.tag == "p":
                yield from self._paragraph(element)
            elif element.tag == "tbl":
                yield from self._table(element)
            elif element.tag not in _SKIPPED and element.tag != "sdtPr":  # content controls, custom XML, insertions
                yield from self.blocks(element)

    def _paragraph(self, paragraph: Element) -> Iterator[StyledBlock]:
        boxes: list[Element] = []
        notes: list[str] = []
        text = "".join(_text(paragraph, boxes, notes)).strip()
        if text:
            role, level = self._role(paragraph, text)
            emphasis = self._emphasis(paragraph, text) if role == "text" else ""
            yield StyledBlock(" ".join(text.split()) if role == "heading" else text, role, level, emphasis)
        for note in notes:
            if note in self._notes:
                note_text = " ".join(" ".join(block.text.split()) for block in self.blocks(self._notes.pop(note)))
                yield StyledBlock(note_text, "footnote")
        for box in boxes:
            yield from self.blocks(box)

    def _role(self, paragraph: Element, text: str) -> tuple[Role, int]:
        id = value(paragraph.find("pPr/pStyle"))
        outline = value(paragraph.find("pPr/outlineLvl"))
        level = (int(outline) + 1) % 10 if outline.isdigit() else self._styles.level(id)
        return role_by_style(self._styles.names(id), level)

    def _emphasis(self, paragraph: Element, text: str) -> Emphasis:
        """What sets all of a short line apart from the running text; an item of a list is not one."""
        runs = [run for run in _runs(paragraph) if (run.findtext("t") or "").strip()]
        if not runs or paragraph.find("pPr/numPr") is not None:
            return ""
        is_bold = all(is_on(run.find("rPr/b")) for run in runs)
        is_large = all(_size(run) > _LARGER * self._body_size for run in runs)
        return line_emphasis(text, is_bold or is_large, all(is_on(run.find("rPr/i")) for run in runs))

    def _table(self, table: Element) -> list[StyledBlock]:
        rows = [row for row in _direct_parts(table, "tr") if row.find("trPr/del") is None]
        cells = [[list(self.blocks(cell)) for cell in _direct_parts(row, "tc")] for row in rows]
        return styled_table(cells)


def _runs(element: Element) -> Iterator[Element]:
    """The runs of a paragraph itself, without those of text boxes in it."""
    for child in element:
        if child.tag == "r":
            yield child
        else:
            yield from _runs(child)


def _size(run: Element) -> int:
    """The size a run sets for itself, in half points; 0 if it sets none."""
    size = value(run.find("rPr/sz"))
    return int(size) if size.isdigit() else 0


def _body_size(body: Element) -> int:
    """The size of most of the text; Word's default where runs set none."""
    sizes: Counter[int] = Counter()
    for run in body.iter("r"):
        sizes[_size(run)] += sum(len(text.text or "") for text in run.findall("t"))
    return (sizes.most_common(1)[0][0] or _DEFAULT_SIZE) if sizes else _DEFAULT_SIZE


def _direct_parts(parent: Element, tag: str) -> Iterator[Element]:
    """The table's own rows or the row's own cells, through any wrappers, without those of nested tables."""
    for child in parent:
        if child.tag == tag:
            yield child
        elif child.tag not in {"tbl", "tc", "p"}:
            yield from _direct_parts(child, tag)


def _text(element: Element, boxes: list[Element], notes: list[str]) -> Iterator[str]:
    """The characters of a paragraph; collects its text boxes in `boxes` and the ids of its notes in `notes`."""
    for child in element:
        tag = child.tag
        if tag == "t":
            yield child.text or ""
        elif tag in _SKIPPED or (tag == "r" and is_on(child.find("rPr/vanish"))):
            continue
        elif tag in {"footnoteReference", "endnoteReference"}:
            notes.append(f"{tag.removesuffix('Reference')}{child.get('id')}")
        elif tag in _CHARACTERS:
            yield _CHARACTERS[tag]
        elif tag == "txbxContent":
            boxes.append(child)
        elif tag == "AlternateContent":  # the same content twice, for new and old readers
            choice = child.find("Choice")
            yield from _text(choice if choice is not None else child, boxes, notes)
        else:
            yield from _text(child, boxes, notes)


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
