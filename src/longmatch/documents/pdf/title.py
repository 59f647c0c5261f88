"""The document's title."""

from longmatch.documents.pdf.blocks import Block, Body
from longmatch.documents.pdf.candidates import KNOWN
from longmatch.documents.pdf.numbering import read_number


def mark_title(blocks: list[Block], body: Body) -> None:
    """Set the kind of the title: the largest text in the upper part of the first page, if larger than the body.

    Where nothing is larger, a bold first line is taken for it.
    """
    if not blocks:
        return
    first = [block for block in blocks if block.first.page == blocks[0].first.page]
    top, bottom = min(block.first.y for block in first), max(block.last.y for block in first)
    upper = [block for block in first if block.first.y <= top + 0.6 * (bottom - top) and _possible(block)]
    if not upper:
        return
    best = max(upper, key=lambda block: (round(block.first.size), -block.first.y))
    number = read_number(best.raw)
    numbered = number is not None and number.series != "letter"  # "A study of ..." is no appendix
    if numbered and any(block is not best and _like(block, best) for block in blocks):
        return
    larger = best.first.size > 1.12 * body.size
    bold_first = best.first.bold and not body.bold and best is blocks[0] and not numbered
    if larger or bold_first:
        best.kind = "title"


def _like(block: Block, other: Block) -> bool:
    """Whether a block is numbered in the same style: one heading among others."""
    return block.first.style == other.first.style and read_number(block.raw) is not None


def _possible(block: Block) -> bool:
    letters = sum(map(str.isalpha, block.raw))
    return block.kind == "text" and letters > 3 and len(block.raw) <= 400 and not KNOWN.fullmatch(block.raw.strip())
