"""Text whose paragraphs have roles by their styles, as word processors write it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, cast

from longmatch.documents.document import Kind
from longmatch.documents.draft import Draft
from longmatch.documents.paragraph_kinds import is_caption
from longmatch.documents.tables import table_text

_TITLE_STYLES = frozenset({"title", "titel", "titre", "título", "titolo", "название", "标题", "標題"})
_NOTE_STYLES = frozenset({"footnote text", "footnote", "endnote text", "endnote"})
_CODE_STYLES = frozenset({"html preformatted", "preformatted text", "source code", "code", "plain text"})
_CONTENTS_STYLE = re.compile(
    r"(?:toc|contents|index|table of figures|inhaltsverzeichnis|verzeichnis)(?: heading| \d)?|contents heading"
)
_HEADING_NAME = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|заголовок|标题|標題|見出し|kop|rubrik|nagłówek|otsikko|overskrift)\s*(\d)"
)
_SENTENCE_END = re.compile(r"[.!?:;,…。！？：；，]$")
_LONGEST_BOLD = 80  # characters of a bold line that may be a heading

Role = Kind | Literal["heading", "title", "bold", "skip"]


@dataclass
class StyledBlock:
    """A block of text and the role its style gives it."""

    text: str
    role: Role
    level: int = 1


def heading_level(style: str) -> int:
    """The level in the lower-case name of a heading style, 0 for other styles.

    >>> heading_level("heading 2"), heading_level("überschrift 1"), heading_level("normal")
    (2, 1, 0)
    """
    return int(match[1]) if (match := _HEADING_NAME.fullmatch(style)) else 0


def role_by_style(names: frozenset[str], level: int, text: str, is_bold: bool) -> tuple[Role, int]:
    """The role of a paragraph, and the level of a heading.

    `names` are the lower-case names of its style and of the styles that is based on; `level` is the outline level, 0
    for none; `is_bold` tells whether all of its text is.
    """
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
    is_short = len(text) <= _LONGEST_BOLD and not _SENTENCE_END.search(text)
    return ("bold" if is_short and is_bold else "text"), 1


def styled_table(rows: Sequence[Sequence[Sequence[StyledBlock]]]) -> list[StyledBlock]:
    """A table of cells with their blocks as one block; or the blocks themselves if it is only page layout."""
    blocks = [block for row in rows for cell in row for block in cell]
    if max(map(len, rows), default=0) < 2 or any(b.role in {"heading", "title", "table"} for b in blocks):
        return blocks
    texts = ([" ".join(b.text for b in cell if b.role != "footnote") for cell in row] for row in rows)
    return [StyledBlock(table_text(texts), "table"), *(block for block in blocks if block.role == "footnote")]


def draft_styled(blocks: list[StyledBlock], core_title: str) -> Draft:
    """Headings and paragraphs; `core_title` is the title in the properties, for a document that shows none."""
    draft = Draft()
    has_headings = any(block.role == "heading" for block in blocks)
    for block, following in zip_longest(blocks, blocks[1:]):
        if block.role == "title" and not draft.title:
            draft.title = " ".join(block.text.split())
        elif block.role == "heading":
            draft.heading(block.text, block.level)
        elif block.role == "bold" and not has_headings and following is not None and following.role == "text":
            draft.heading(block.text)
        elif block.role != "skip":
            kind: Kind = "text" if block.role in {"bold", "title"} else cast(Kind, block.role)
            draft.paragraph(block.text, "caption" if kind == "text" and is_caption(block.text) else kind)
    first = blocks[0] if blocks else None
    if not draft.title and not (first is not None and first.role in {"heading", "bold"}):
        draft.title = core_title
    return draft
