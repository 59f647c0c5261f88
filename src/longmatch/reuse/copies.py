"""Whether two documents are copies: every visible character of one is in the other, in the same order.

White space, ligatures and the hyphenation at line ends do not count. Text, tables and footnotes are compared each by
themselves, as formats put notes and tables in other places. Plain text can give neither tables nor footnotes: those of
the other file are not compared.
"""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Literal

from longmatch.documents.document import Document, Span
from longmatch.documents.paragraph_kinds import table_cells
from longmatch.reuse.words import BROKEN, Vocabulary, Words, visible

Part = Literal["tables", "footnotes"]
APART: dict[str, Part] = {"table": "tables", "footnote": "footnotes"}  # by kind of paragraph
OPENING = 4096  # characters that are looked at first
_WITHOUT_PARTS = frozenset({"", ".txt"})  # endings of files that can give no table and no footnote
_WITH_TITLE = frozenset(
    {".docx", ".odt", ".rtf", ".tex", ".xml", ".nxml", ".eml"}
)  # whose title is no part of their text


def are_copies(a: Document, b: Document) -> bool:
    """Whether all is the same that the files of both can give."""
    return not_compared(a, b) is not None


def not_compared(a: Document, b: Document) -> tuple[Part, ...] | None:
    """What of one copy the format of the other cannot give; None where two documents are no copies."""
    if stated_title(a, b) != stated_title(b, a) or not _agree(_text(a), _text(b)) or not (a.running and b.running):
        return None
    left_out: list[Part] = []
    for part in APART.values():
        own, other = _parts(a, part), _parts(b, part)
        if bool(own) != bool(other) and not _gives_parts(b if own else a):
            left_out.append(part)
        elif (_cells(own) != _cells(other)) if part == "tables" else not _agree("\n\n".join(own), "\n\n".join(other)):
            return None
    return tuple(left_out)


def stated_title(document: Document, other: Document) -> str:
    """The title, where the files of both state one beside their text."""
    suffixes = {PurePath(each.source).suffix.lower() for each in (document, other)}
    return visible(document.title) if suffixes <= _WITH_TITLE and document.title != document.id else ""


def _text(document: Document) -> str:
    """Headings and paragraphs."""
    return "\n\n".join(_lines(document))


def _lines(document: Document) -> Iterator[str]:
    for section in document.sections:
        yield section.heading
        yield from (p.of(document.readable) for p in section.paragraphs if p.kind not in APART)


def _parts(document: Document, part: Part) -> list[str]:
    return [p.of(document.readable) for p in document.paragraphs if APART.get(p.kind) == part]


def _cells(tables: list[str]) -> list[list[list[str]]]:
    return [[[visible(cell) for cell in row] for row in table_cells(table)] for table in tables]


def _gives_parts(document: Document) -> bool:
    return PurePath(document.source).suffix.lower() not in _WITHOUT_PARTS


def _agree(a: str, b: str) -> bool:
    """Whether two texts have the same visible characters; a hyphen at a line end may be part of its word or not."""
    if not _begin_alike(a, b):
        return False
    if visible(a) == visible(b):
        return True
    if not BROKEN.search(a) and not BROKEN.search(b):
        return False
    vocabulary = Vocabulary()
    own, other = (Words.of(text, [Span(0, len(text))], vocabulary) for text in (a, b))
    return len(own) == len(other) and bool(own.agree(slice(None), other, slice(None)).all())


def _begin_alike(a: str, b: str) -> bool:
    """Whether two long texts may agree, by their beginnings: most versions differ soon, and need not be read whole."""
    own, other = (visible(text[:OPENING]).replace("-", "") for text in (a, b))
    certain = max(0, min(len(own), len(other)) - 8)  # the last ones may go with what follows
    return own[:certain] == other[:certain]
