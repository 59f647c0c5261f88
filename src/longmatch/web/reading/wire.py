"""A document as JSON between two processes: no pickle, as the reader may have been taken over by what it read."""

import json
import re
from typing import Any, cast

from longmatch.documents.document import Document, Kind, Paragraph, Section, Sentence

_SLICE = 1 << 18  # characters looked at in one call, during which the server answers nobody
_HALVES = re.compile("[\ud800-\udfff]")
NAMES = ("id", "title", "text", "language", "plain")


def to_json(document: Document) -> str:
    """Everything but the source."""
    sections = [[s.start, s.end, s.heading, s.level, [_paragraph(p) for p in s.paragraphs]] for s in document.sections]
    parts = {"sections": sections, "page_breaks": document.page_breaks, "metadata": dict(document.metadata)}
    return json.dumps({name: getattr(document, name) for name in NAMES} | parts, default=str)


def from_json(said: str) -> Document:
    """Back from JSON; ValueError, KeyError or TypeError where it is none of ours."""
    found = json.loads(said)
    id, title, text, language, plain = (_clean(str(found[name])) for name in NAMES)
    sections = tuple(_section(s) for s in found["sections"])
    breaks = tuple((int(place), int(page)) for place, page in found["page_breaks"])
    metadata = json.loads(_clean(json.dumps(dict(found["metadata"]), ensure_ascii=False)))
    document = Document(id, title, text, sections, language, metadata=metadata, plain=plain, page_breaks=breaks)
    _check(document)
    return document


def _paragraph(p: Paragraph) -> list[Any]:
    return [p.start, p.end, p.kind, p.page, [[s.start, s.end] for s in p.sentences]]


def _section(row: list[Any]) -> Section:
    start, end, heading, level, paragraphs = row
    return Section(int(start), int(end), _clean(str(heading)), int(level), tuple(_paragraph_of(p) for p in paragraphs))


def _paragraph_of(row: list[Any]) -> Paragraph:
    start, end, kind, page, sentences = row
    parts = tuple(Sentence(int(first), int(last)) for first, last in sentences)
    return Paragraph(int(start), int(end), parts, cast(Kind, str(kind)), None if page is None else int(page))


def _check(document: Document) -> None:
    """Every span lies in the text."""
    size = len(document.text)
    parts = [*document.sections, *document.paragraphs, *(s for p in document.paragraphs for s in p.sentences)]
    if not all(0 <= part.start <= part.end <= size for part in parts):
        raise ValueError("a part lies outside the text")
    if document.plain and len(document.plain) != size:
        raise ValueError("the plain text has another length")


def _clean(text: str) -> str:
    """Halves of characters, which no answer can hold, become one replacement character each, so that spans hold."""
    if text.isascii():
        return text
    parts = (text[start : start + _SLICE] for start in range(0, len(text), _SLICE))
    return "".join(_HALVES.sub("\N{REPLACEMENT CHARACTER}", part) for part in parts)
