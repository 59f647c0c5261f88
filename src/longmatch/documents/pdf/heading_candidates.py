"""Blocks that may be headings, with the evidence for and against."""

import re
from dataclasses import dataclass

from longmatch.documents.pdf.blocks import LIST_ITEM, Body, LayoutBlock
from longmatch.documents.pdf.lines import CAPTION_LABEL
from longmatch.documents.pdf.numbering import Number, read_number

STANDARD_HEADING = re.compile(
    r"(?:abstract|(?:executive )?summary|introduction|background|related works?|conclusions?|discussion|keywords"
    r"|acknowledge?ments?|references|bibliography|works cited|literature|appendix|appendices|index terms|preface"
    r"|foreword|supplement(?:ary|al) materials?|(?:table of )?contents|claims|what is claimed(?: is)?|glossary|index"
    r"|zusammenfassung|literatur(?:verzeichnis)?|inhalt(?:sverzeichnis)?|einleitung|danksagung|résumé|références"
    r"|bibliographie|摘要|参考文献|目录|结论|引言|致谢)\s*[:.：]?",
    re.IGNORECASE,
)
_CODE_START = re.compile(r"[\\{}<>%=/]")  # how a line of code may begin but a heading does not
_WORDLESS_TITLE = re.compile(r"(?:\d{1,3}[.):]\s+)?\d{1,4}(?:[-–/.+]\d{1,4}){0,4}")
_MAX_LINES, _MAX_CHARACTERS, _MAX_WORDS = 4, 220, 28

Style = tuple[float, bool, bool, bool]  # see Line.style


@dataclass
class Candidate:
    """A block that may be a heading."""

    index: int  # among the blocks
    block: LayoutBlock
    number: Number | None
    distinct: bool  # differs from the running text in size, weight, capitals or slant
    other_font: bool  # differs from the running text in font
    apart: bool  # has white space above it, or begins a column
    before_text: bool  # running text follows in its column
    before_table: bool  # a table follows directly below

    @property
    def style(self) -> Style:
        """The style of its first line."""
        return self.block.first.style

    @property
    def text(self) -> str:
        """Its words."""
        return self.block.raw.strip()

    @property
    def standard(self) -> bool:
        """Whether it is a standard heading, such as "Introduction"."""
        return bool(STANDARD_HEADING.fullmatch(self.text))

    @property
    def wordless(self) -> bool:
        """Whether it is made of digits and signs, like the name of a type ("4-4-0")."""
        return _count_letters(self.text) < 2

    def listed(self, bookmarks: frozenset[str]) -> bool:
        """Whether the file's outline contains it, with or without its number."""
        unnumbered = normalise(self.text[self.number.length :]) if self.number else ""
        return normalise(self.text) in bookmarks or unnumbered in bookmarks


def normalise(text: str) -> str:
    """The letters and digits of a heading, for comparison.

    >>> normalise("3.1  Word-Level LSTM")
    '31wordlevellstm'
    """
    return "".join(filter(str.isalnum, text.casefold()))


def find_candidates(blocks: list[LayoutBlock], body: Body) -> list[Candidate]:
    """The blocks short enough for a heading that do not end like a sentence."""
    candidates = []
    for index, block in enumerate(blocks):
        if not _is_possible(block, body):
            continue
        first = block.first
        before = blocks[index - 1] if index else None
        after = blocks[index + 1] if index + 1 < len(blocks) else None
        below = after if after and after.first.column == first.column else None
        gap = below.first.y - block.last.y if below else 0.0
        candidates.append(
            Candidate(
                index=index,
                block=block,
                number=read_number(block.raw),
                distinct=_is_distinct(block, body),
                other_font=all(line.font != body.font and not line.mono for line in block.lines),
                apart=before is None
                or before.last.column != first.column
                or before.kind != "text"
                or first.y - before.last.y > 1.25 * body.leading * max(first.size, body.size),
                before_text=below is not None
                and is_running_text(below, body)
                and not LIST_ITEM.match(below.raw)
                and gap < 4 * body.size,
                before_table=below is not None and below.kind == "table" and gap < 2.5 * first.size,
            )
        )
    return candidates


def _count_letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _is_possible(block: LayoutBlock, body: Body) -> bool:
    text = block.raw
    if block.kind != "text" or len(block.lines) > _MAX_LINES or len(text) > _MAX_CHARACTERS:
        return False
    if _CODE_START.match(text) or CAPTION_LABEL.match(text):
        return False
    if len(text.split()) > _MAX_WORDS or text.count("(") > text.count(")") or text.endswith((",", ";")):
        return False
    if _count_letters(text) < 2:
        return bool(_WORDLESS_TITLE.fullmatch(text)) and block.first.size > 1.06 * body.size
    if STANDARD_HEADING.fullmatch(text) or (block.first.bold and len(text) < 80):
        return True
    return not re.search(r"[^.]\.$", text)


def is_running_text(block: LayoutBlock, body: Body) -> bool:
    """Whether a block is set like running text."""
    return block.kind == "text" and abs(block.first.size - body.size) < 0.05 * body.size and not block.first.bold


def _is_distinct(block: LayoutBlock, body: Body) -> bool:
    if all(line.size > 1.06 * body.size for line in block.lines):
        return True
    bold = all(line.bold for line in block.lines) and not body.bold
    upper = block.raw.isupper() and sum(map(str.isalpha, block.raw)) > 3 and not body.upper
    italic = all(line.italic for line in block.lines) and "ital" not in body.font.casefold()
    min_size = 0.8 if bold and (upper or STANDARD_HEADING.fullmatch(block.raw)) else 0.88 if bold else 0.93
    return (bold or upper or italic) and block.first.size > min_size * body.size
