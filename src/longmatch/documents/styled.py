"""Text whose paragraphs have roles by their styles, as word processors write it."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeVar

from longmatch.documents.document import Kind
from longmatch.documents.draft import Draft
from longmatch.documents.paragraph_kinds import is_caption, table_text
from longmatch.documents.text import is_capitals, item_number, nested_items, numbered_level

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
_LONGEST_LINE = 80  # characters of a line that may be a heading though its style says nothing

K = TypeVar("K")
S = TypeVar("S")
Role = Kind | Literal["heading", "title", "skip"]
Emphasis = Literal["bold", "italic", "wording", ""]


@dataclass
class StyledBlock:
    """A block of text and the role its style gives it."""

    text: str
    role: Role
    level: int = 1
    emphasis: Emphasis = ""  # what makes a line of text look like a heading: bold or large type, italics, its wording

    def __post_init__(self) -> None:
        if self.role == "heading":
            self.text = " ".join(self.text.split())


def heading_level(style: str) -> int:
    """The level in the lower-case name of a heading style, 0 for other styles.

    >>> heading_level("heading 2"), heading_level("überschrift 1"), heading_level("normal")
    (2, 1, 0)
    """
    return int(match[1]) if (match := _HEADING_NAME.fullmatch(style)) else 0


def role_by_style(names: frozenset[str], level: int) -> tuple[Role, int]:
    """The role of a paragraph, and the level of a heading.

    `names` are the lower-case names of its style and of the styles that is based on; `level` is the outline level, 0
    for none.
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
    return "text", 1


def line_emphasis(text: str, is_bold: bool, is_italic: bool = False) -> Emphasis:
    """What sets a short line apart from the running text.

    >>> line_emphasis("The parties", is_bold=True), line_emphasis("2. Term", False), line_emphasis("It rained.", True)
    ('bold', 'wording', '')
    """
    if len(text) > _LONGEST_LINE or _SENTENCE_END.search(text):
        return ""
    if is_bold or is_italic:
        return "bold" if is_bold else "italic"
    return "wording" if numbered_level(text) or is_capitals(text) else ""


def inherited(styles: Mapping[K, S], key: K | None, parent: Callable[[S], K | None]) -> list[S]:
    """A style, the style it is based on, and so on; `parent` gives the key of that."""
    chain: list[S] = []
    while key is not None and key in styles and len(chain) < 20:  # a style may be based on itself
        chain.append(styles[key])
        key = parent(chain[-1])
    return chain


def note_block(blocks: Iterable[StyledBlock]) -> StyledBlock:
    """A footnote as one block."""
    return StyledBlock(" ".join(" ".join(block.text.split()) for block in blocks), "footnote")


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


def _unstyled_headings(blocks: list[StyledBlock]) -> set[int]:
    """The places of the blocks that serve as headings in a document without heading styles.

    Bold and large lines do; where there are hardly any, lines in italics do too, and then numbered lines and capitals.
    """
    if any(block.role == "heading" for block in blocks):
        return set()
    above_text = []
    for place, (block, following) in enumerate(pairwise(blocks)):
        if following.role != "text" or (place and _is_next_item(blocks[place - 1], block)):
            continue
        # text is below it, or it has a number and a line of its own kind is
        if not following.emphasis or (numbered_level(block.text) and not _is_next_item(block, following)):
            above_text.append(place)
    found: list[int] = []
    for emphasis in ("bold", "italic", "wording"):
        if len(found) < 2:
            found = sorted([*found, *(place for place in above_text if blocks[place].emphasis == emphasis)])
    texts = [blocks[place].text for place in found]
    items = nested_items([item_number(text) if numbered_level(text) < 2 else None for text in texts])
    return {place for rank, place in enumerate(found) if rank not in items}


def _is_next_item(block: StyledBlock, following: StyledBlock) -> bool:
    """Whether the second of two consecutive short lines has the next number: they are items of a list."""
    number = item_number(block.text) if block.emphasis else None
    return number is not None and item_number(following.text) == number + 1
