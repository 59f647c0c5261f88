"""DOCX: headings by style, footnotes, tables and captions told apart, tracked changes taken as accepted."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Literal, cast
from xml.etree.ElementTree import Element

from longmatch.documents.document import Kind
from longmatch.documents.docx_package import Package, Styles, is_on, value
from longmatch.documents.draft import Draft
from longmatch.documents.kinds import is_caption
from longmatch.errors import ReadError

_DROPPED = {"del", "moveFrom", "instrText", "delText", "rt", "pPr", "rPr", "tblPr", "commentReference", "annotationRef"}
_MARKS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "footnoteReference": "", "sym": " "}
_TITLES = {"title", "titel", "titre", "título", "titolo", "название", "标题", "標題"}
_NOTES = {"footnote text", "footnote", "endnote text", "endnote"}
_CODE = {"html preformatted", "preformatted text", "source code", "code", "plain text"}
_CONTENTS = re.compile(r"(?:toc|contents|index|table of figures|inhaltsverzeichnis|verzeichnis)(?: heading| \d)?")
_SENTENCE_END = re.compile(r"[.!?:;,…。！？：；，]$")

Role = Kind | Literal["heading", "title", "bold", "skip"]


@dataclass
class _Piece:
    """A block, and what its style says it is."""

    text: str
    role: Role
    level: int = 1


def read_docx(path: Path) -> Draft:
    """Read a DOCX file."""
    package = Package(path)
    try:
        root = package.part(package.main)
        body = None if root is None else root.find("body")
        pieces = list(_Reader(package).blocks(body)) if body is not None else []
        return _draft(pieces, _own_title(package))
    except RecursionError as error:
        raise ReadError(path, "is nested too deep", "It is no ordinary document; leave it out.") from error
    finally:
        package.close()


def _draft(pieces: list[_Piece], own_title: str) -> Draft:
    draft = Draft()
    styled = any(piece.role == "heading" for piece in pieces)
    for piece, after in zip_longest(pieces, pieces[1:]):
        if piece.role == "title" and not draft.title:
            draft.title = " ".join(piece.text.split())
        elif piece.role == "heading":
            draft.heading(piece.text, piece.level)
        elif piece.role == "bold" and not styled and after is not None and after.role == "text":
            draft.heading(piece.text)
        elif piece.role != "skip":
            kind: Kind = "text" if piece.role in {"bold", "title"} else cast(Kind, piece.role)
            draft.paragraph(piece.text, "caption" if kind == "text" and is_caption(piece.text) else kind)
    first = pieces[0] if pieces else None
    if not draft.title and not (first is not None and first.role in {"heading", "bold"}):
        draft.title = own_title
    return draft


def _own_title(package: Package) -> str:
    core = package.part("docProps/core.xml")
    return "" if core is None else " ".join((core.findtext("title") or "").split())


class _Reader:
    """Walks the body, block by block."""

    def __init__(self, package: Package) -> None:
        self._styles = Styles(package.beside_main("styles.xml"))
        self._notes = {
            f"{kind}{note.get('id')}": note
            for kind in ("footnote", "endnote")
            for note in package.beside_main(f"{kind}s.xml") or ()
            if note.get("type") not in {"separator", "continuationSeparator", "continuationNotice"}
        }

    def blocks(self, parent: Element) -> Iterator[_Piece]:
        """The blocks of a body, a cell or a text box, in order."""
        for element in parent:
            if element.tag == "p":
                yield from self._paragraph(element)
            elif element.tag == "tbl":
                yield from self._table(element)
            elif element.tag not in _DROPPED and element.tag != "sdtPr":  # content controls, custom XML, insertions
                yield from self.blocks(element)

    def _paragraph(self, paragraph: Element) -> Iterator[_Piece]:
        boxes: list[Element] = []
        notes: list[str] = []
        text = "".join(_text(paragraph, boxes, notes)).strip()
        if text:
            role, level = self._role(paragraph, text)
            yield _Piece(" ".join(text.split()) if role == "heading" else text, role, level)
        for note in notes:
            if note in self._notes:
                words = " ".join(" ".join(piece.text.split()) for piece in self.blocks(self._notes.pop(note)))
                yield _Piece(words, "footnote")
        for box in boxes:
            yield from self.blocks(box)

    def _role(self, paragraph: Element, text: str) -> tuple[Role, int]:
        id = value(paragraph.find("pPr/pStyle"))
        names = self._styles.names(id)
        outline = value(paragraph.find("pPr/outlineLvl"))
        level = (int(outline) + 1) % 10 if outline.isdigit() else self._styles.level(id)
        if names & _TITLES and not level and "subtitle" not in names:
            return "title", 1
        if any(_CONTENTS.fullmatch(name) for name in names):
            return "skip", 1
        if level:
            return "heading", level
        if "caption" in names:
            return "caption", 1
        if names & _NOTES:
            return "footnote", 1
        if "bibliography" in names:
            return "reference", 1
        if names & _CODE:
            return "code", 1
        short = len(text) <= 80 and not _SENTENCE_END.search(text) and paragraph.find("pPr/numPr") is None
        return ("bold" if short and self._is_bold(paragraph) else "text"), 1

    def _is_bold(self, paragraph: Element) -> bool:
        runs = [run for run in paragraph.iter("r") if (run.findtext("t") or "").strip()]
        return bool(runs) and all(is_on(run.find("rPr/b")) for run in runs)

    def _table(self, table: Element) -> Iterator[_Piece]:
        """A line a row; or the blocks one by one, where the table only lays out the page."""
        rows = [row for row in _nearest(table, "tr") if row.find("trPr/del") is None]
        cells = [[list(self.blocks(cell)) for cell in _nearest(row, "tc")] for row in rows]
        pieces = [piece for row in cells for cell in row for piece in cell]
        if max(map(len, cells), default=0) < 2 or any(p.role in {"heading", "title", "table"} for p in pieces):
            yield from pieces
            return
        lines = (
            " | ".join(" ".join(" ".join(p.text.split()) for p in cell if p.role != "footnote") for cell in row)
            for row in cells
        )
        yield _Piece("\n".join(line for line in lines if line.strip(" |")), "table")
        yield from (piece for piece in pieces if piece.role == "footnote")


def _nearest(parent: Element, tag: str) -> Iterator[Element]:
    """The rows or cells of a table itself, whatever they are wrapped in, not those of tables inside it."""
    for child in parent:
        if child.tag == tag:
            yield child
        elif child.tag not in {"tbl", "tc", "p"}:
            yield from _nearest(child, tag)


def _text(element: Element, boxes: list[Element], notes: list[str]) -> Iterator[str]:
    """The characters of a paragraph; text boxes and notes met on the way are put aside."""
    for child in element:
        tag = child.tag
        if tag == "t":
            yield child.text or ""
        elif tag in _DROPPED or (tag == "r" and is_on(child.find("rPr/vanish"))):
            continue
        elif tag in {"footnoteReference", "endnoteReference"}:
            notes.append(f"{tag.removesuffix('Reference')}{child.get('id')}")
        elif tag in _MARKS:
            yield _MARKS[tag]
        elif tag == "txbxContent":
            boxes.append(child)
        elif tag == "AlternateContent":  # the same thing twice, for new and old readers
            choice = child.find("Choice")
            yield from _text(choice if choice is not None else child, boxes, notes)
        else:
            yield from _text(child, boxes, notes)
