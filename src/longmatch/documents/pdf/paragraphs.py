"""Paragraphs that go on in the next column, on the next page, or after a figure."""

import re

from longmatch.documents.pdf.blocks import LIST_ITEM, Block, Body, terminal

_OPEN_END = re.compile(r"[,\-–—]$|\b(?:the|of|and|a|an|in|to|for|with|by|on|is|are|that|as|or)$", re.IGNORECASE)
_PATIENCE = 3


def join_continued(blocks: list[Block], body: Body) -> list[Block]:
    """Append to a paragraph the block that goes on with it; what stood between comes after."""
    result: list[Block] = []
    open_block: Block | None = None
    strangers = 0  # blocks met since, while a broken word waits for its other half
    for block in blocks:
        if block.kind == "heading":
            open_block = None
        elif block.kind == "text":
            if open_block is not None and _continues(open_block, block, body):
                open_block.lines += block.lines
                continue
            if open_block is not None and open_block.last.text.endswith("-") and strangers < _PATIENCE:
                strangers += 1
            else:
                open_block, strangers = block, 0
        result.append(block)
    return result


def _continues(before: Block, block: Block, body: Body) -> bool:
    last, first = before.last, block.first
    if LIST_ITEM.match(first.text) and not _OPEN_END.search(last.text[-8:]):
        return False
    if abs(last.size - first.size) > 0.07 * body.size or last.bold != first.bold:
        return first.text[:1].islower() and not terminal(last.text) and last.column == first.column
    if first.text[:1].islower() and (not terminal(last.text) or last.text.endswith((":", ";"))):
        return True
    if last.text.endswith("-") and last.text[-2:-1].isalpha():
        return False  # the other half of a word begins with a small letter
    if _OPEN_END.search(last.text[-8:]):
        return True
    if terminal(last.text) or last.column == first.column:
        return False
    full = last.x1 > last.right - 2 * last.size
    indented = first.x0 > first.left + 0.7 * first.size
    return full and not indented
