"""DOCX: headings by style, footnotes, tables and captions; tracked changes count as accepted."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Literal
from xml.etree.ElementTree import Element

from longmatch.documents.document import Kind
from longmatch.documents.docx_package import Package, Styles, is_on, value
from longmatch.documents.draft import Draft
from longmatch.documents.paragraph_kinds import is_caption
from longmatch.documents.text_headings import is_capitals, item_number, nested_items, numbered_level
from longmatch.errors import ReadError

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
_TITLE_STYLES = {"title", "titel", "titre", "título", "titolo", "название", "标题", "標題"}
_NOTE_STYLES = {"footnote text", "footnote", "endnote text", "endnote"}
_CODE_STYLES = {"html preformatted", "preformatted text", "source code", "code", "plain text"}
_CONTENTS_STYLE = re.compile(r"(?:toc|contents|index|table of figures|inhaltsverzeichnis|verzeichnis)(?: heading| \d)?")
_DEFAULT_SIZE = 22  # half points
_LARGER = 1.2  # times the running text's size: set apart from it
_SENTENCE_END = re.compile(r"[.!?:;,…。！？：；，]$")

Role = Kind | Literal["heading", "title", "skip"]
Emphasis = Literal["bold", "italic", "wording", ""]


@dataclass
class _StyledBlock:
    """A block of text and the role its style gives it."""

    text: str
    role: Role
    level: int = 1
    emphasis: Emphasis = ""  # what makes a line of text look like a heading: bold or large type, italics, its wording


def read_docx(path: Path) -> Draft:
    """Read a DOCX file."""
    package = Package(path)
    try:
        root = package.part(package.main)
        body = None if root is None else root.find("body")
        blocks = list(_Reader(package, body).blocks(body)) if body is not None else []
        return _draft(blocks, _core_title(package))
    except RecursionError as error:
        raise ReadError(path, "is nested too deep", "It is not an ordinary document; leave it out.") from error
    finally:
        package.close()


def _draft(blocks: list[_StyledBlock], core_title: str) -> Draft:
    draft = Draft()
    unstyled = _unstyled_headings(blocks)
    chapters_are_titles = sum(block.role == "title" for block in blocks) > 2
    for place, block in enumerate(blocks):
        if block.role == "title" and not draft.title:
            draft.title = " ".join(block.text.split())
        elif block.role == "title" and chapters_are_titles:
            draft.heading(" ".join(block.text.split()))
        elif block.role == "heading":
            draft.heading(block.text, block.level)
        elif place in unstyled:
            draft.heading(block.text, numbered_level(block.text) or 1)
        elif block.role != "skip":
            kind: Kind = "text" if block.role == "title" else block.role
            draft.paragraph(block.text, "caption" if kind == "text" and is_caption(block.text) else kind)
    first = blocks[0] if blocks else None
    if not draft.title and not (first is not None and (first.role == "heading" or first.emphasis == "bold")):
        draft.title = core_title
    return draft


def _unstyled_headings(blocks: list[_StyledBlock]) -> set[int]:
    """The places of the blocks that serve as headings in a document without heading styles.

    Bold and large lines do; where there are hardly any, lines in italics do too, and then numbered lines and capitals.
    """
    if any(block.role == "heading" for block in blocks):
        return set()
    above_text = [
        place
        for place, (block, following) in enumerate(zip_longest(blocks, blocks[1:]))
        if _is_above_text(block, following) and not (place and _is_next_item(blocks[place - 1], block))
    ]
    found: list[int] = []
    for emphasis in ("bold", "italic", "wording"):
        if len(found) < 2:
            found = sorted([*found, *(place for place in above_text if blocks[place].emphasis == emphasis)])
    texts = [blocks[place].text for place in found]
    items = nested_items([item_number(text) if numbered_level(text) < 2 else None for text in texts])
    return {place for rank, place in enumerate(found) if rank not in items}


def _is_above_text(block: _StyledBlock, following: _StyledBlock | None) -> bool:
    """Whether a line has text below it, or has a number and a line of its own kind below it."""
    if following is None or following.role != "text":
        return False
    if not following.emphasis:
        return True
    return numbered_level(block.text) > 0 and not _is_next_item(block, following)


def _is_next_item(block: _StyledBlock, following: _StyledBlock) -> bool:
    """Whether the second of two consecutive short lines has the next number: they are items of a list."""
    number = item_number(block.text) if block.emphasis else None
    return number is not None and item_number(following.text) == number + 1


def _core_title(package: Package) -> str:
    """The title in the document properties."""
    core = package.part("docProps/core.xml")
    return "" if core is None else " ".join((core.findtext("title") or "").split())


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

    def blocks(self, parent: Element) -> Iterator[_StyledBlock]:
        """The blocks of a body, a cell or a text box, in order."""
        for element in parent:
            if element.tag == "p":
                yield from self._paragraph(element)
            elif element.tag == "tbl":
                yield from self._table(element)
            elif element.tag not in _SKIPPED and element.tag != "sdtPr":  # content controls, custom XML, insertions
                yield from self.blocks(element)

    def _paragraph(self, paragraph: Element) -> Iterator[_StyledBlock]:
        boxes: list[Element] = []
        notes: list[str] = []
        text = "".join(_text(paragraph, boxes, notes)).strip()
        if text:
            role, level = self._role(paragraph, text)
            emphasis = self._emphasis(paragraph, text) if role == "text" else ""
            yield _StyledBlock(" ".join(text.split()) if role == "heading" else text, role, level, emphasis)
        for note in notes:
            if note in self._notes:
                note_text = " ".join(" ".join(block.text.split()) for block in self.blocks(self._notes.pop(note)))
                yield _StyledBlock(note_text, "footnote")
        for box in boxes:
            yield from self.blocks(box)

    def _role(self, paragraph: Element, text: str) -> tuple[Role, int]:
        id = value(paragraph.find("pPr/pStyle"))
        names = self._styles.names(id)
        outline = value(paragraph.find("pPr/outlineLvl"))
        level = (int(outline) + 1) % 10 if outline.isdigit() else self._styles.level(id)
        if names & _TITLE_STYLES and not level and "subtitle" not in names:
            return "title", 1
        if any(_CONTENTS_STYLE.fullmatch(name) for name in names):
            return "skip", 1
        if level:
            return "heading", level
        if "caption" in names:
            return "caption", 1
        if names & _NOTE_STYLES:
            return "footnote", 1
        if "bibliography" in names:
            return "reference", 1
        if names & _CODE_STYLES:
            return "code", 1
        return "text", 1

    def _emphasis(self, paragraph: Element, text: str) -> Emphasis:
        """What sets all of a short line apart from the running text."""
        runs = [run for run in paragraph.iter("r") if (run.findtext("t") or "").strip()]
        if not runs or len(text) > 80 or _SENTENCE_END.search(text) or paragraph.find("pPr/numPr") is not None:
            return ""
        if all(is_on(run.find("rPr/b")) for run in runs) or all(_size(run) > _LARGER * self._body_size for run in runs):
            return "bold"
        if all(is_on(run.find("rPr/i")) for run in runs):
            return "italic"
        return "wording" if numbered_level(text) or is_capitals(text) else ""

    def _table(self, table: Element) -> Iterator[_StyledBlock]:
        """One line per row; or the blocks themselves if the table is only page layout."""
        rows = [row for row in _direct_parts(table, "tr") if row.find("trPr/del") is None]
        cells = [[list(self.blocks(cell)) for cell in _direct_parts(row, "tc")] for row in rows]
        blocks = [block for row in cells for cell in row for block in cell]
        if max(map(len, cells), default=0) < 2 or any(b.role in {"heading", "title", "table"} for b in blocks):
            yield from blocks
            return
        lines = (
            " | ".join(" ".join(" ".join(b.text.split()) for b in cell if b.role != "footnote") for cell in row)
            for row in cells
        )
        yield _StyledBlock("\n".join(line for line in lines if line.strip(" |")), "table")
        yield from (block for block in blocks if block.role == "footnote")


def _size(run: Element) -> int:
    """The size a run sets for itself, in half points; 0 if it sets none."""
    size = value(run.find("rPr/sz"))
    return int(size) if size.isdigit() else 0


def _body_size(body: Element) -> int:
    """The size of most of the text; Word's default where runs set none."""
    sizes: Counter[int] = Counter()
    for run in body.iter("r"):
        sizes[_size(run)] += sum(len(text.text or "") for text in run.iter("t"))
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
