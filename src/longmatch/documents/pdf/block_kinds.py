"""Classify blocks: caption, table, contents, footnote, reference, code, or running text."""

import re
from itertools import groupby, pairwise, takewhile, zip_longest

from longmatch.documents.pdf.blocks import LIST_ITEM, Body, LayoutBlock, ends_sentence, merged, starts_caption
from longmatch.documents.pdf.lines import Line
from longmatch.documents.pdf.numbering import read_number

_CONTENTS_ENTRY = re.compile(r"(?:(?:[.·…_]\s?){4}|…{2})\s*+(?:\d{1,4}|[ivxl]{1,6})?$", re.IGNORECASE)
_CONTENTS_HEADING = re.compile(
    r"(?:table of )?contents|inhalt(?:sverzeichnis)?|table des matières|目\s*录|目\s*次", re.IGNORECASE
)
_REFERENCES_HEADING = re.compile(
    r"(?:references?(?: cited)?|bibliography|works cited|literature(?: cited)?|literatur(?:verzeichnis)?"
    r"|références|bibliographie|bibliografía|参考文献)\s*[:.：]?",
    re.IGNORECASE,
)
_NOTE = re.compile(r"(?:\d{1,3}|[*∗†‡§¶]+)[.)]?\s*\S")
_ENTRY_LABEL = re.compile(r"\[[^\]]{1,12}\]|\(?\d{1,3}[.)]\s")


def mark_captions_and_tables(blocks: list[LayoutBlock], body: Body) -> list[LayoutBlock]:
    """Mark captions, contents, tables with their headers, and the text inside figures, before headings are found."""
    for block in blocks:
        if block.kind == "text" and starts_caption(block.first, body):
            block.kind = "caption"
        elif block.kind != "caption":
            entries = sum(bool(_CONTENTS_ENTRY.search(line.text)) for line in block.lines)
            if entries and 2 * entries >= len(block.lines):
                block.kind = "contents"
    _spread_contents(blocks)
    for ordered in (blocks[::-1], blocks):  # the header and stub lines of tables, which have no wide gaps themselves
        for table, block in pairwise(ordered):
            if table.kind == "table" and block.kind == "text" and _is_part_of_table(table, block):
                block.kind = "table"
    _mark_figure_text(blocks, body)
    _mark_small_text_near_captions(blocks, body)

    def same_table(last: LayoutBlock, block: LayoutBlock) -> bool:
        return last.kind == block.kind and block.kind in ("table", "contents") and block.first.page == last.last.page

    return merged(blocks, same_table)


def _spread_contents(blocks: list[LayoutBlock]) -> None:
    """Mark blocks between entries, and those under the heading "Contents" that end in a page number, as entries."""
    entries = [index for index, block in enumerate(blocks) if block.kind == "contents"]
    for above, below in pairwise(entries):
        if below - above <= 3:
            for block in blocks[above:below]:
                if len(block.lines) <= 3 and block.kind in ("text", "table"):
                    block.kind = "contents"
    for index, block in enumerate(blocks):
        if _CONTENTS_HEADING.fullmatch(block.raw.strip()):
            for other in blocks[index + 1 :]:
                if not all(re.search(r"\s(?:\d{1,4}|[ivxl]{1,6})$", line.text) for line in other.lines):
                    break
                other.kind = "contents"


def _is_part_of_table(table: LayoutBlock, block: LayoutBlock) -> bool:
    if table.first.column != block.first.column or len(block.lines) > 3 or ends_sentence(block.raw):
        return False
    gap = max(table.first.y - block.last.y, block.first.y - table.last.y)
    left, right = min(line.x0 for line in table.lines), max(line.x1 for line in table.lines)
    inside = all(line.x0 > left - line.size and line.x1 < right + line.size for line in block.lines)
    same_size = abs(block.first.size - table.first.size) < 0.2 * table.first.size
    return gap < 2 * table.first.size and same_size and inside and not read_number(block.raw)


def _mark_figure_text(blocks: list[LayoutBlock], body: Body) -> None:
    """Mark short lines in another style on a page with a caption: axes, legends and boxes of a figure."""
    captioned = {block.first.page for block in blocks if block.kind == "caption"}
    for block, after in zip_longest(blocks, blocks[1:]):
        if block.kind != "text" or block.first.page not in captioned or _is_above_text(block, after, body):
            continue
        text, lines = block.raw, block.lines
        other_style = all(abs(x.size - body.size) > 0.05 * body.size or x.font != body.font for x in lines)
        small = all(line.size < 0.93 * body.size for line in lines)
        narrow = all(line.width < 0.6 * (line.right - line.left) for line in lines)
        letters = sum(map(str.isalpha, text))
        numeric = letters < 0.4 * len(text.replace(" ", "")) or not re.search(r"\w{3}", text)
        if narrow and (small or (other_style and numeric)) and not ends_sentence(text) and not block.first.marked:
            block.kind = "table"


def _is_above_text(block: LayoutBlock, after: LayoutBlock | None, body: Body) -> bool:
    """Whether a block in bold, italics or capitals has running text directly below: a heading, not part of a figure."""
    if after is None or after.first.column != block.first.column or len(block.lines) > 3:
        return False
    emphasised = all(line.bold or line.upper or line.italic for line in block.lines)
    is_text = len(after.lines) > 1 or LIST_ITEM.match(after.raw) is not None
    is_body = is_text and abs(after.first.size - body.size) < 0.05 * body.size
    return emphasised and is_body and after.first.y - block.last.y < 4 * body.size


def _mark_small_text_near_captions(blocks: list[LayoutBlock], body: Body) -> None:
    """Mark small text directly above or below a caption: a table of sentences, text in a figure."""
    for ordered in (blocks, blocks[::-1]):
        for index, block in enumerate(ordered):
            if block.kind != "caption":
                continue
            previous = block
            for other in ordered[index + 1 :]:
                gap = max(other.first.y - previous.last.y, previous.first.y - other.last.y)
                small = all(line.size < 0.93 * body.size for line in other.lines) and not other.first.marked
                is_near = other.first.page == block.first.page and gap <= 3 * body.size
                if not is_near or not small or other.kind not in ("text", "table"):
                    break
                other.kind = "table"
                previous = other


def mark_footnotes(blocks: list[LayoutBlock], body: Body) -> list[LayoutBlock]:
    """Mark small text at the foot of a column, from the first block with a footnote mark on; one block per note."""
    by_column: dict[int, list[LayoutBlock]] = {}
    by_page: dict[int, list[LayoutBlock]] = {}
    for block in blocks:
        by_column.setdefault(block.first.column, []).append(block)
        by_page.setdefault(block.first.page, []).append(block)
    for column in by_column.values():
        page = by_page[column[0].first.page]
        middle = (min(block.first.y for block in page) + max(block.last.y for block in page)) / 2
        foot: list[LayoutBlock] = []
        for block in reversed(column):
            if block.kind == "caption" and not foot:
                continue  # a figure at the foot of the page, below the notes
            small = all(line.size < 0.95 * body.size for line in block.lines) and not _has_text_below(block, page)
            if block.kind not in ("text", "table") or not small or block.first.y < middle:
                break
            foot.append(block)
            if block.kind == "text" and (block.first.marked or _is_note(block)):
                for note in foot:
                    note.kind = "footnote"

    def same_note(last: LayoutBlock, block: LayoutBlock) -> bool:  # lines set differently, such as web addresses
        begins = block.first.marked or _is_note(block)
        return block.kind == last.kind == "footnote" and not begins and block.first.column == last.first.column

    return merged(blocks, same_note)


def _is_note(block: LayoutBlock) -> bool:
    """Whether a block is a note whose mark is not superscript: a number, then words."""
    letters = sum(map(str.isalpha, block.raw))
    return bool(_NOTE.match(block.raw)) and len(block.raw) > 20 and letters > 0.55 * len(block.raw)


def _has_text_below(block: LayoutBlock, blocks: list[LayoutBlock]) -> bool:
    """Whether running text follows below the block on its page; `blocks` are those of the page."""
    last = block.last
    for other in blocks:
        is_running = other.kind in ("heading", "caption") or (other.kind == "text" and len(other.lines) > 1)
        below = other.last.y > last.y and other.last.x0 < last.x1 and other.last.x1 > last.x0
        if is_running and below and other.first.column != block.first.column:
            return True
    return False


def mark_references(blocks: list[LayoutBlock]) -> list[LayoutBlock]:
    """Split the text under a heading like "References" into one block per entry.

    The heading becomes part of the reference list and is not a section heading.
    """
    result: list[LayoutBlock] = []
    heading: LayoutBlock | None = None  # of the current reference list
    listed: list[LayoutBlock] = []
    for block in blocks:
        if block.kind == "heading":
            result += [*_split_entries(listed), block]
            number = read_number(block.raw)
            text = block.raw[number.length if number else 0 :].strip()
            listed, heading = [], block if _REFERENCES_HEADING.fullmatch(text) else None
        elif heading is not None and (
            block.kind in ("text", "table") or (block.kind == "footnote" and not block.first.marked)
        ):
            heading.kind = "reference"
            listed.append(block)
        else:
            result.append(block)
    result += _split_entries(listed)
    starts = [index for index, block in enumerate(result) if block.raw.startswith("[1] ")]
    if starts and not any(block.kind == "reference" for block in result):
        _mark_unheaded_references(result[starts[-1] :])
    return result


def _mark_unheaded_references(blocks: list[LayoutBlock]) -> None:
    """Mark a list [1], [2], [3] ... of entries with years that has no heading."""
    after = takewhile(lambda block: block.kind != "heading", blocks)
    tail = [block for block in after if block.kind in ("text", "footnote") and not block.first.marked]
    labels = [int(label[1]) for block in tail if (label := re.match(r"\[(\d{1,3})\] ", block.raw))]
    dated = sum(bool(re.search(r"\b(?:19|20)\d\d\b", block.raw)) for block in tail)
    if len(labels) >= 3 and labels == list(range(1, len(labels) + 1)) and dated > 0.6 * len(labels):
        for block in tail:
            block.kind = "reference"


def _split_entries(blocks: list[LayoutBlock]) -> list[LayoutBlock]:
    lines = [line for block in blocks for line in block.lines]
    starts = _entry_starts(lines, {id(block.first) for block in blocks})
    entries: list[LayoutBlock] = []
    for line, start in zip(lines, starts, strict=True):
        if start or not entries:
            entries.append(LayoutBlock([line], "reference"))
        else:
            entries[-1].lines.append(line)
    return entries


def _entry_starts(lines: list[Line], block_starts: set[int]) -> list[bool]:
    """Which lines begin an entry: by labels if entries have them, by hanging indents, else by the original blocks."""
    labels = [bool(_ENTRY_LABEL.match(line.text)) for line in lines]
    if sum(labels) >= 0.15 * len(lines) and sum(labels) >= 2:
        return labels
    starts: list[bool] = []
    hanging = 0
    for _, run in groupby(lines, key=lambda line: line.column):
        column = list(run)
        edge = min(line.x0 for line in column)
        at_edge = [line.x0 < edge + 0.5 * line.size for line in column]
        hanging += len(at_edge) - sum(at_edge)
        starts += at_edge
    if 0.25 * len(lines) <= hanging <= 0.9 * len(lines):
        return starts
    return [
        id(line) in block_starts
        and (index == 0 or line.column == lines[index - 1].column or ends_sentence(lines[index - 1].text))
        for index, line in enumerate(lines)
    ]


def mark_code(blocks: list[LayoutBlock]) -> None:
    """Mark blocks in a fixed-width font as code, unless most of the document is set in one."""
    text = [block for block in blocks if block.kind == "text"]
    mono = [block for block in text if all(line.mono for line in block.lines)]
    for block in mono if 2 * len(mono) <= len(text) else ():
        if len(block.lines) > 1 or re.search(r"[{}();=<>]", block.raw):
            block.kind = "code"
