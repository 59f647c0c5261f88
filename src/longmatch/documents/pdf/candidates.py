"""Blocks that may be headings, with all that speaks for and against it."""

import re
from dataclasses import dataclass

from longmatch.documents.pdf.blocks import LIST_ITEM, Block, Body
from longmatch.documents.pdf.captions import CAPTION
from longmatch.documents.pdf.numbering import Number, read_number

KNOWN = re.compile(
    r"(?:abstract|(?:executive )?summary|introduction|background|related works?|conclusions?|discussion|keywords"
    r"|acknowledge?ments?|references|bibliography|works cited|literature|appendix|appendices|index terms|preface"
    r"|foreword|supplement(?:ary|al) materials?|(?:table of )?contents|claims|what is claimed(?: is)?|glossary|index"
    r"|zusammenfassung|literatur(?:verzeichnis)?|inhalt(?:sverzeichnis)?|einleitung|danksagung|résumé|références"
    r"|bibliographie|摘要|参考文献|目录|结论|引言|致谢)\s*[:.：]?",
    re.IGNORECASE,
)
_CODE = re.compile(r"[\\{}<>%=/]")  # how a line of a program begins, and no heading
_MOST_LINES, _MOST_CHARACTERS, _MOST_WORDS = 4, 220, 28

Style = tuple[float, bool, bool, bool]  # as Line.style gives it


@dataclass
class Candidate:
    """A block that may be a heading."""

    place: int  # among the blocks
    block: Block
    number: Number | None
    distinct: bool  # its size, weight, capitals or slant are not those of the running text
    odd_font: bool  # its font at least is another one
    apart: bool  # white space stands above it, or it begins a column
    before_text: bool  # running text follows in its column
    before_table: bool  # a table follows close below

    @property
    def style(self) -> Style:
        """The style of its first line."""
        return self.block.first.style

    @property
    def text(self) -> str:
        """Its words."""
        return self.block.raw.strip()

    @property
    def known(self) -> bool:
        """Whether it bears a name that heads a section in any document."""
        return bool(KNOWN.fullmatch(self.text))

    def listed(self, bookmarks: frozenset[str]) -> bool:
        """Whether the file's own outline has it, with or without its number."""
        after = plain(self.text[self.number.length :]) if self.number else ""
        return plain(self.text) in bookmarks or after in bookmarks


def plain(text: str) -> str:
    """A heading's letters and digits alone, for comparing.

    >>> plain("3.1  Word-Level LSTM")
    '31wordlevellstm'
    """
    return "".join(filter(str.isalnum, text.casefold()))


def find_candidates(blocks: list[Block], body: Body) -> list[Candidate]:
    """The blocks short enough for a heading, and not ending as a sentence does."""
    found = []
    for place, block in enumerate(blocks):
        if not _possible(block):
            continue
        first = block.first
        before = blocks[place - 1] if place else None
        after = blocks[place + 1] if place + 1 < len(blocks) else None
        below = after if after and after.first.column == first.column else None
        gap = below.first.y - block.last.y if below else 0.0
        found.append(
            Candidate(
                place=place,
                block=block,
                number=read_number(block.raw),
                distinct=_distinct(block, body),
                odd_font=all(line.font != body.font and not line.mono for line in block.lines),
                apart=before is None
                or before.last.column != first.column
                or before.kind != "text"
                or first.y - before.last.y > 1.25 * body.pitch * max(first.size, body.size),
                before_text=below is not None
                and _is_text(below, body)
                and not LIST_ITEM.match(below.raw)
                and gap < 4 * body.size,
                before_table=below is not None and below.kind == "table" and gap < 2.5 * first.size,
            )
        )
    return found


def _possible(block: Block) -> bool:
    text = block.raw
    if block.kind != "text" or len(block.lines) > _MOST_LINES or len(text) > _MOST_CHARACTERS:
        return False
    if _CODE.match(text) or len(text.split()) > _MOST_WORDS or sum(map(str.isalpha, text)) < 2 or CAPTION.match(text):
        return False
    if KNOWN.fullmatch(text) or (block.first.bold and len(text) < 80):
        return True
    return not re.search(r"[,;]$|[^.]\.$", text)


def _is_text(block: Block, body: Body) -> bool:
    return block.kind == "text" and abs(block.first.size - body.size) < 0.05 * body.size and not block.first.bold


def _distinct(block: Block, body: Body) -> bool:
    if all(line.size > 1.06 * body.size for line in block.lines):
        return True
    bold = all(line.bold for line in block.lines) and not body.bold
    upper = block.raw.isupper() and sum(map(str.isalpha, block.raw)) > 3 and not body.upper
    italic = all(line.italic for line in block.lines) and "ital" not in body.font.casefold()
    smallest = 0.8 if bold and (upper or KNOWN.fullmatch(block.raw)) else 0.88 if bold else 0.93
    return (bold or upper or italic) and block.first.size > smallest * body.size
