"""DOCX: headings by style, footnotes, tables and captions; tracked changes count as accepted."""

from collections import Counter
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from xml.etree.ElementTree import Element

from longmatch.documents.archive import Package, file_errors
from longmatch.documents.draft import Draft
from longmatch.documents.metadata import office_metadata
from longmatch.documents.styled import (
    Emphasis,
    StyledBlock,
    draft_styled,
    heading_level,
    inherited,
    line_emphasis,
    note_block,
    role_by_style,
    styled_table,
)

_SKIPPED = {"del", "moveFrom", "instrText", "delText", "rt", "pPr", "rPr", "tblPr", "commentReference", "annotationRef"}
_CHARACTERS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "sym": " "}
_NESTED = frozenset({"tbl", "tc", "p"})  # what holds rows and cells of other tables
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
        sizes: Counter[int] = Counter()
        for run in body.iter("r"):
            sizes[_size(run)] += sum(len(text.text or "") for text in run.findall("t"))
        most_common = sizes.most_common(1)[0][0] if sizes else 0
        self._body_size = most_common or _DEFAULT_SIZE  # Word's default where runs set none
        styles = package.sibling_part("styles.xml")
        self._styles = {} if styles is None else {style.get("styleId", ""): style for style in styles.iter("style")}
        self._style = cache(self._resolved)
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
            names, level = self._style(value(paragraph.find("pPr/pStyle")))
            outline = value(paragraph.find("pPr/outlineLvl"))
            role, level = role_by_style(names, (int(outline) + 1) % 10 if outline.isdigit() else level)
            yield StyledBlock(text, role, level, self._emphasis(paragraph, text) if role == "text" else "")
        for note in notes:
            if note in self._notes:
                yield note_block(self.blocks(self._notes.pop(note)))
        for box in boxes:
            yield from self.blocks(box)

    def _resolved(self, id: str) -> tuple[frozenset[str], int]:
        """The lower-case names of a style and of those it is based on, and its heading level, 0 for none."""
        chain = inherited(self._styles, id, lambda style: value(style.find("basedOn")))
        named = [(value(style.find("name")).lower(), value(style.find("pPr/outlineLvl"))) for style in chain]
        named = named or [(id.lower(), "")]
        names = frozenset(name for name, _ in named)
        for name, outline in named:
            if outline.isdigit():
                return names, int(outline) + 1 if int(outline) < 9 else 0
            if level := heading_level(name):
                return names, level
        return names, 0

    def _emphasis(self, paragraph: Element, text: str) -> Emphasis:
        """What sets all of a short line apart from the running text; an item of a list is not one."""
        own = _inside(paragraph, "r", ())
        runs = [run for run in own if (run.findtext("t") or "").strip()]
        if not runs or paragraph.find("pPr/numPr") is not None:
            return ""
        is_bold = all(is_on(run.find("rPr/b")) for run in runs)
        is_large = all(_size(run) > _LARGER * self._body_size for run in runs)
        return line_emphasis(text, is_bold or is_large, all(is_on(run.find("rPr/i")) for run in runs))

    def _table(self, table: Element) -> list[StyledBlock]:
        rows = [row for row in _inside(table, "tr", _NESTED) if row.find("trPr/del") is None]
        return styled_table([[list(self.blocks(cell)) for cell in _inside(row, "tc", _NESTED)] for row in rows])


def _size(run: Element) -> int:
    """The size a run sets for itself, in half points; 0 if it sets none."""
    size = value(run.find("rPr/sz"))
    return int(size) if size.isdigit() else 0


def _inside(parent: Element, tag: str, closed: Collection[str]) -> Iterator[Element]:
    """The outermost elements with a tag, through any wrappers but those that are `closed`."""
    for child in parent:
        if child.tag == tag:
            yield child
        elif child.tag not in closed:
            yield from _inside(child, tag, closed)


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


def value(element: Element | None) -> str:
    """The `val` attribute; empty if the element is missing."""
    return "" if element is None else element.get("val", "")


def is_on(element: Element | None) -> bool:
    """Whether a toggle property such as bold is set."""
    return element is not None and element.get("val", "true") not in {"0", "false", "off", "none"}
