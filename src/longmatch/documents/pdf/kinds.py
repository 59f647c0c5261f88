"""What a block is: caption, table, contents, footnote, reference, code, or running text."""

import re
from itertools import pairwise, takewhile, zip_longest

from longmatch.documents.pdf.blocks import LIST_ITEM, Block, Body, caption_start, column_runs, terminal
from longmatch.documents.pdf.lines import Line
from longmatch.documents.pdf.numbering import read_number

_CONTENTS_LINE = re.compile(r".*?(?:(?:[.·…_]\s?){4,}|…{2,})\s*(?:\d{1,4}|[ivxl]{1,6})?$", re.IGNORECASE)
_CONTENTS = re.compile(
    r"(?:table of )?contents|inhalt(?:sverzeichnis)?|table des matières|目\s*录|目\s*次", re.IGNORECASE
)
_REFERENCES = re.compile(
    r"(?:references?(?: cited)?|bibliography|works cited|literature(?: cited)?|literatur(?:verzeichnis)?"
    r"|références|bibliographie|bibliografía|参考文献)\s*[:.：]?",
    re.IGNORECASE,
)
_NOTE = re.compile(r"(?:\d{1,3}|[*∗†‡§¶]+)[.)]?\s*\S")
_LABEL = re.compile(r"\[[^\]]{1,12}\]|\(?\d{1,3}[.)]\s")


def mark_plain_kinds(blocks: list[Block], body: Body) -> list[Block]:
    """Captions, contents, tables with their headers, and the lettering of figures: all that precedes headings."""
    for block in blocks:
        if block.kind == "text" and caption_start(block.first, body):
            block.kind = "caption"
        elif block.kind != "caption" and _is_contents(block):
            block.kind = "contents"
    _spread_contents(blocks)
    _absorb_headers(blocks)
    _mark_lettering(blocks, body)
    _mark_small_beside_captions(blocks, body)
    return _merged_tables(blocks)


def _is_contents(block: Block) -> bool:
    entries = sum(bool(_CONTENTS_LINE.fullmatch(line.text)) for line in block.lines)
    return entries > 0 and 2 * entries >= len(block.lines)


def _spread_contents(blocks: list[Block]) -> None:
    """What stands between entries, or under the heading "Contents" and ends in a page number, is an entry too."""
    entries = [index for index, block in enumerate(blocks) if block.kind == "contents"]
    for above, below in pairwise(entries):
        if below - above <= 3:
            for block in blocks[above:below]:
                if len(block.lines) <= 3 and block.kind in ("text", "table"):
                    block.kind = "contents"
    for index, block in enumerate(blocks):
        if _CONTENTS.fullmatch(block.raw.strip()):
            for other in blocks[index + 1 :]:
                if not all(re.search(r"\s(?:\d{1,4}|[ivxl]{1,6})$", line.text) for line in other.lines):
                    break
                other.kind = "contents"


def _absorb_headers(blocks: list[Block]) -> None:
    """A table's head and stub lines, which have no wide gaps themselves, close to its rows."""
    for step in (1, -1):
        ordered = blocks[::-step]
        for table, block in pairwise(ordered):
            if table.kind == "table" and block.kind == "text" and _belongs(table, block):
                block.kind = "table"


def _belongs(table: Block, block: Block) -> bool:
    if table.first.column != block.first.column or len(block.lines) > 3 or terminal(block.raw):
        return False
    gap = max(table.first.y - block.last.y, block.first.y - table.last.y)
    left, right = min(line.x0 for line in table.lines), max(line.x1 for line in table.lines)
    inside = all(line.x0 > left - line.size and line.x1 < right + line.size for line in block.lines)
    alike = abs(block.first.size - table.first.size) < 0.2 * table.first.size
    return gap < 2 * table.first.size and alike and inside and not read_number(block.raw)


def _mark_lettering(blocks: list[Block], body: Body) -> None:
    """Short odd-looking lines on a page with a caption: axes, legends, boxes of a figure."""
    captioned = {block.first.page for block in blocks if block.kind == "caption"}
    for block, after in zip_longest(blocks, blocks[1:]):
        if block.kind != "text" or block.first.page not in captioned or _heads_text(block, after, body):
            continue
        odd = all(abs(line.size - body.size) > 0.05 * body.size or line.font != body.font for line in block.lines)
        small = all(line.size < 0.93 * body.size for line in block.lines)
        narrow = all(line.width < 0.6 * (line.right - line.left) for line in block.lines)
        letters = sum(map(str.isalpha, block.raw))
        figures = letters < 0.4 * len(block.raw.replace(" ", "")) or not re.search(r"\w{3}", block.raw)
        if not terminal(block.raw) and not block.first.marked and ((small and narrow) or (odd and narrow and figures)):
            block.kind = "table"


def _heads_text(block: Block, after: Block | None, body: Body) -> bool:
    """A line in bold, italics or capitals with running text right below it: a heading rather than a figure's words."""
    if after is None or after.first.column != block.first.column or len(block.lines) > 3:
        return False
    marked_off = all(line.bold or line.upper or line.italic for line in block.lines)
    text = abs(after.first.size - body.size) < 0.05 * body.size and (
        len(after.lines) > 1 or bool(LIST_ITEM.match(after.raw))
    )
    return marked_off and text and after.first.y - block.last.y < 4 * body.size


def _mark_small_beside_captions(blocks: list[Block], body: Body) -> None:
    """Text smaller than the body that runs up to a caption, above or below: a table of sentences, a figure's words."""
    for ordered in (blocks, blocks[::-1]):
        for index, block in enumerate(ordered):
            if block.kind != "caption":
                continue
            near = block
            for other in ordered[index + 1 :]:
                gap = max(other.first.y - near.last.y, near.first.y - other.last.y)
                small = all(line.size < 0.93 * body.size for line in other.lines) and not other.first.marked
                if other.first.page != block.first.page or gap > 3 * body.size or not small:
                    break
                if other.kind not in ("text", "table"):
                    break
                other.kind = "table"
                near = other


def _merged_tables(blocks: list[Block]) -> list[Block]:
    merged: list[Block] = []
    for block in blocks:
        last = merged[-1] if merged else None
        if (
            last
            and block.kind == last.kind
            and block.kind in ("table", "contents")
            and block.first.page == last.last.page
        ):
            last.lines += block.lines
        else:
            merged.append(block)
    return merged


def mark_footnotes(blocks: list[Block], body: Body) -> list[Block]:
    """Small text at the foot of a column, from the first marked block on; one block a note."""
    by_column: dict[int, list[Block]] = {}
    by_page: dict[int, list[Block]] = {}
    for block in blocks:
        by_column.setdefault(block.first.column, []).append(block)
        by_page.setdefault(block.first.page, []).append(block)
    for column in by_column.values():
        page = by_page[column[0].first.page]
        middle = (min(block.first.y for block in page) + max(block.last.y for block in page)) / 2
        foot: list[Block] = []
        for block in reversed(column):
            if block.kind == "caption" and not foot:
                continue  # a figure at the foot of the page, below the notes
            small = all(line.size < 0.95 * body.size for line in block.lines) and not _above_text(block, page)
            if block.kind not in ("text", "table") or not small or block.first.y < middle:
                break
            foot.append(block)
            if block.kind == "text" and (block.first.marked or _is_note(block)):
                for note in foot:
                    note.kind = "footnote"
    return _joined_notes(blocks)


def _is_note(block: Block) -> bool:
    """A note whose mark is not raised: a number, then words."""
    letters = sum(map(str.isalpha, block.raw))
    return bool(_NOTE.match(block.raw)) and len(block.raw) > 20 and letters > 0.55 * len(block.raw)


def _joined_notes(blocks: list[Block]) -> list[Block]:
    """Put the lines of a note that are set differently, as addresses are, back into it."""
    result: list[Block] = []
    for block in blocks:
        last = result[-1] if result else None
        if (
            last is not None
            and block.kind == last.kind == "footnote"
            and not block.first.marked
            and not _is_note(block)
            and block.first.column == last.first.column
        ):
            last.lines += block.lines
        else:
            result.append(block)
    return result


def _above_text(block: Block, blocks: list[Block]) -> bool:
    """Whether running text stands below the block on its page."""
    last = block.last
    return any(
        line.y > last.y and line.x0 < last.x1 and line.x1 > last.x0
        for other in blocks
        if (other.kind in ("heading", "caption") or (other.kind == "text" and len(other.lines) > 1))
        and other.first.column != block.first.column
        for line in (other.last,)
    )


def mark_references(blocks: list[Block]) -> list[Block]:
    """Make the text under a heading like "References" into one block an entry.

    The heading goes with the list, which is told apart from the running text, and is no heading of the outline.
    """
    result: list[Block] = []
    inside: list[Block] | None = None
    for block in blocks:
        if block.kind == "heading":
            if inside:
                result += _entries(inside)
            number = read_number(block.raw)
            text = block.raw[number.length if number else 0 :].strip()
            result.append(block)
            inside, announcement = ([], block) if _REFERENCES.fullmatch(text) else (None, block)
        elif inside is not None and (
            block.kind in ("text", "table") or (block.kind == "footnote" and not block.first.marked)
        ):
            if not inside:
                announcement.kind = "reference"
            inside.append(block)
        else:
            result.append(block)
    result += _entries(inside) if inside else []
    if not any(block.kind == "reference" for block in result):
        _mark_unheaded_references(result)
    return result


def _mark_unheaded_references(blocks: list[Block]) -> None:
    """A list [1], [2], [3] ... of entries with years at the end of the document, though no heading announces it."""
    starts = [index for index, block in enumerate(blocks) if block.raw.startswith("[1] ")]
    if not starts:
        return
    after = takewhile(lambda block: block.kind != "heading", blocks[starts[-1] :])
    tail = [block for block in after if block.kind in ("text", "footnote") and not block.first.marked]
    labels = [int(found[1]) for block in tail if (found := re.match(r"\[(\d{1,3})\] ", block.raw))]
    dated = sum(bool(re.search(r"\b(?:19|20)\d\d\b", block.raw)) for block in tail)
    if len(labels) >= 3 and labels == list(range(1, len(labels) + 1)) and dated > 0.6 * len(labels):
        for block in tail:
            block.kind = "reference"


def _entries(blocks: list[Block]) -> list[Block]:
    lines = [line for block in blocks for line in block.lines]
    starts = _entry_starts(lines, {id(block.first) for block in blocks})
    entries: list[Block] = []
    for line, start in zip(lines, starts, strict=True):
        if start or not entries:
            entries.append(Block([line], "reference"))
        else:
            entries[-1].lines.append(line)
    return entries


def _entry_starts(lines: list[Line], block_starts: set[int]) -> list[bool]:
    """By labels where entries have them, by hanging indents where lines stand out, else by the blocks as they were."""
    labels = [bool(_LABEL.match(line.text)) for line in lines]
    if sum(labels) >= 0.15 * len(lines) and sum(labels) >= 2:
        return labels
    starts: list[bool] = []
    hanging = 0
    for column in column_runs(lines):
        edge = min(line.x0 for line in column)
        out = [line.x0 < edge + 0.5 * line.size for line in column]
        hanging += len(out) - sum(out)
        starts += out
    if 0.25 * len(lines) <= hanging <= 0.9 * len(lines):
        return starts
    return [
        id(line) in block_starts
        and (index == 0 or line.column == lines[index - 1].column or terminal(lines[index - 1].text))
        for index, line in enumerate(lines)
    ]


def mark_code(blocks: list[Block]) -> None:
    """Blocks in a fixed-width font, unless the whole document is typed so."""
    text = [block for block in blocks if block.kind == "text"]
    typed = sum(all(line.mono for line in block.lines) for block in text)
    if 2 * typed > len(text):
        return
    for block in text:
        if all(line.mono for line in block.lines) and (len(block.lines) > 1 or re.search(r"[{}();=<>]", block.raw)):
            block.kind = "code"
