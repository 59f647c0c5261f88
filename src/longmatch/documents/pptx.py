"""PPTX: a section per slide, under the slide's title; tables, SmartArt and the speaker's notes."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from longmatch.documents.archive import Package, file_errors
from longmatch.documents.document import Kind
from longmatch.documents.draft import Draft
from longmatch.documents.metadata import office_metadata
from longmatch.documents.paragraph_kinds import is_caption, table_text

_TITLES = frozenset({"title", "ctrTitle"})
_FURNITURE = frozenset({"dt", "ftr", "hdr", "sldNum", "sldImg"})
_DEFAULT_TITLES = frozenset({"powerpoint presentation", "presentation", "powerpoint-präsentation", "untitled"})


def read_pptx(path: Path) -> Draft:
    """Read a presentation; the page of a paragraph is its slide."""
    with Package(path, "PPTX", "ppt/presentation.xml") as package, file_errors(path, "is damaged"):
        draft = Draft()
        root, related = package.xml(package.main), package.related(package.main)
        parts: list[str] = []
        for listed in () if root is None else root.iter("sldId"):
            id = next((value for name, value in listed.items() if name.endswith("}id")), "")
            kind, part = related.get(id, ("", ""))
            if kind == "slide" and part not in parts:
                parts.append(part)
        for number, part in enumerate(parts, 1):
            slide = package.xml(part)
            if slide is not None:
                _add_slide(draft, package, part, slide, number)
        properties = package.properties()
        stated = properties.get("title", "")
        if stated.lower() not in _DEFAULT_TITLES:
            draft.title = stated or draft.title
        draft.metadata = office_metadata(properties)
        return draft


def _add_slide(draft: Draft, package: Package, part: str, slide: Element, number: int) -> None:
    title = " ".join(" ".join(_paragraphs(shape)) for shape in slide.iter("sp") if _placeholder(shape) in _TITLES)
    if title.strip():
        draft.heading(" ".join(title.split()), 1, number)
        draft.title = draft.title or " ".join(title.split())
    for tree in slide.iter("spTree"):
        for text, is_table in _texts(tree):
            kind: Kind = "table" if is_table else "caption" if is_caption(text) else "text"
            draft.paragraph(text, kind, number)
    for relation, other in package.related(part).values():
        if relation not in {"diagramData", "notesSlide"} or (root := package.xml(other)) is None:
            continue
        if relation == "diagramData":
            for text in (text for point in root.iter("pt") for text in _paragraphs(point, "t")):
                draft.paragraph(text, "text", number)
        else:
            for shape in root.iter("sp"):
                if _placeholder(shape) == "body":
                    for text in _paragraphs(shape):
                        draft.paragraph(text, "footnote", number)


def _texts(tree: Element) -> Iterator[tuple[str, bool]]:
    """The paragraphs and tables of a group of shapes, and whether each is a table."""
    for shape in tree:
        if shape.tag == "sp":
            if _placeholder(shape) not in _TITLES | _FURNITURE:
                yield from ((text, False) for text in _paragraphs(shape))
        elif shape.tag == "graphicFrame":
            for table in shape.findall("graphic/graphicData/tbl"):
                rows = [[" ".join(_paragraphs(cell)) for cell in row.findall("tc")] for row in table.findall("tr")]
                yield table_text(rows), True
        elif shape.tag in {"grpSp", "AlternateContent", "Choice"}:  # the fallback repeats the choice
            yield from _texts(shape)


def _placeholder(shape: Element) -> str:
    """What a shape holds the place of: title, body, ftr and others; empty for a text box."""
    found = shape.find("nvSpPr/nvPr/ph")
    return "" if found is None else found.get("type", "body")


def _paragraphs(shape: Element, body: str = "txBody") -> Iterator[str]:
    for paragraph in shape.findall(f"{body}/p"):
        text = "".join(
            "\n" if part.tag == "br" else part.findtext("t") or ""
            for part in paragraph
            if part.tag in {"r", "br"} or (part.tag == "fld" and part.get("type") != "slidenum")
        ).strip()
        if text:
            yield text
