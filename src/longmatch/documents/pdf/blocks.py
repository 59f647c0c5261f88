"""Blocks: lines of one column that belong together, before they are classified."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from longmatch.documents.document import Kind
from longmatch.documents.pdf.fragments import usual_size
from longmatch.documents.pdf.lines import CAPTION_LABEL, Line
from longmatch.documents.pdf.numbering import read_number

LIST_ITEM = re.compile(
    r"(?:[•◦▪‣●○■□◆–—*·∙-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)]|\[\d{1,5}\]|（[一二三四五六七八九十\d]+）|[一二三四五六七八九十]+、)\s+\S"
)
ABSTRACT = re.compile(r"abstract|summary|zusammenfassung|résumé|resumen|摘要", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?:;。！？：；…][\"'”’)\]]*$")
_QUANTITY = re.compile(r"(?<!\S)(?:[-−–+±~<>≤≥(]*\d[\d.,]*[%)*†‡]*|[-–—])(?!\S)")
_EQUATION_NUMBER = re.compile(r"\(?[A-Z]?\.?\d+(?:\.\d+)?[a-z]?\)")


@dataclass(slots=True)
class LayoutBlock:
    """Lines that belong together: a paragraph, a heading, a caption, a table."""

    lines: list[Line]
    kind: Kind | Literal["heading", "title", "contents"] = "text"
    level: int = 1
    text: str = ""  # if it is not simply the joined lines

    @property
    def first(self) -> Line:
        """Its first line."""
        return self.lines[0]

    @property
    def last(self) -> Line:
        """Its last line."""
        return self.lines[-1]

    @property
    def raw(self) -> str:
        """Its lines unchanged, separated by blanks."""
        return " ".join(line.text for line in self.lines)


@dataclass(frozen=True)
class Body:
    """The typical style of the document's running text, with which other lines are compared."""

    size: float
    font: str
    bold: bool
    upper: bool
    leading: float  # from baseline to baseline, in ems

    @classmethod
    def of(cls, lines: list[Line]) -> "Body":
        """The most common size and font, weighted by characters, and the usual leading."""
        size = usual_size(lines)
        fonts: Counter[str] = Counter()
        weights: Counter[tuple[bool, bool]] = Counter()
        for line in lines:
            if abs(line.size - size) < 0.3:
                fonts[line.font] += len(line.text)
                weights[line.bold, line.upper] += len(line.text)
        leadings = Counter(
            round((below.y - above.y) / above.size, 1)
            for above, below in pairwise(lines)
            if above.column == below.column and abs(above.size - size) < 0.3 and 0.8 < (below.y - above.y) / size < 3
        )
        leading = leadings.most_common(1)[0][0] if leadings else 1.2
        bold, upper = weights.most_common(1)[0][0]
        return cls(size, fonts.most_common(1)[0][0], bold, upper, leading)


def ends_sentence(text: str) -> bool:
    """Whether a text ends like a sentence."""
    return bool(_SENTENCE_END.search(text[-8:]))


def starts_caption(line: Line, body: Body) -> bool:
    """Whether a line opens a caption: its label is set off by punctuation after the number or by its style."""
    label = CAPTION_LABEL.match(line.text)
    if not label:
        return False
    after = (label["after"] or label["zh"] or "").strip()
    alone = label.end() == len(line.text)
    return bool(after and after != "(") or alone or line.bold or line.size < 0.95 * body.size


def make_blocks(lines: list[Line], body: Body) -> list[LayoutBlock]:
    """Group the lines into tables and paragraphs."""
    cells = [_count_cells(line) for line in lines]
    tabular = _table_rows(lines, cells, body)
    blocks: list[LayoutBlock] = []
    for index, line in enumerate(lines):
        before = blocks[-1] if blocks else None
        after = lines[index + 1] if index + 1 < len(lines) else None
        if tabular[index]:
            if before and before.kind == "table" and before.last.column == line.column:
                before.lines.append(line)
            else:
                blocks.append(LayoutBlock([line], "table"))
        elif (
            before is None
            or before.kind == "table"
            or _starts_block(before, line, after, body, is_above_row=after is not None and cells[index + 1] >= 2)
        ):
            blocks.append(LayoutBlock([line]))
        else:
            before.lines.append(line)
    return blocks


def _count_cells(line: Line) -> int:
    """Number of cells of a line, without the marker of a list item and the number of an equation."""
    numbers = len(_QUANTITY.findall(line.text))
    if numbers >= 3 and numbers >= 0.5 * len(line.text.split()):
        return max(line.cells, numbers)
    if line.cells == 1:
        return 1
    parts = re.split(r" {3}", line.text)
    if _EQUATION_NUMBER.fullmatch(parts[-1]):
        parts = parts[:-1]
    if len(parts) == 2 and (len(parts[0]) <= 2 or re.fullmatch(r"[\[(]?[\w.]{1,6}[.)\]]?", parts[0])):
        return 1
    return len(parts)


def _table_rows(lines: list[Line], cells: list[int], body: Body) -> list[bool]:
    """Which lines are rows of a table: several cells, near a line with several cells."""
    cells = [  # larger: a stretched heading
        count if line.size < 1.15 * body.size else 1 for line, count in zip(lines, cells, strict=True)
    ]
    tabular = [False] * len(lines)

    for above, below in pairwise(index for index, count in enumerate(cells) if count >= 2):
        first, last = lines[above], lines[below]
        near = first.column == last.column and abs(first.y - last.y) < 3.5 * first.size
        short = (x.width < 0.6 * (x.right - x.left) or len(x.text) < 12 for x in lines[above + 1 : below])
        if below - above <= 3 and near and all(short):
            tabular[above : below + 1] = [True] * (below + 1 - above)
    return [inside or count >= 4 for inside, count in zip(tabular, cells, strict=True)]


def _starts_block(block: LayoutBlock, line: Line, after: Line | None, body: Body, is_above_row: bool) -> bool:
    """Whether a line does not continue the block before it; `after` is the next line, which may be a table's row."""
    last = block.last
    if line.column != last.column:
        return True
    if _breaks_word(last, line, body):
        return False
    if _changes_style(block, line, body):
        return True
    if is_above_row and ends_sentence(last.text) and starts_caption(block.first, body):
        return True  # the head of a table directly below its caption
    em = max(line.size, last.size)
    drop = line.y - last.y
    if drop > 1.3 * body.leading * em or starts_caption(line, body) or line.marked:
        return True
    if _looks_like_heading(last, body) and _looks_like_heading(line, body) and last.style == line.style:
        both_numbered = read_number(block.first.text) is not None and read_number(line.text) is not None
        return both_numbered or ABSTRACT.fullmatch(line.text) is not None
    is_item = LIST_ITEM.match(line.text) and (ends_sentence(last.text) or LIST_ITEM.match(block.first.text))
    after_hanging_indent = len(block.lines) > 1 and block.first.x0 < last.x0 - 2
    if is_item or _is_indented(block, line, after) or (after_hanging_indent and line.x0 < last.x0 - 0.7 * line.size):
        return True
    right = max(other.x1 for other in (*block.lines[-6:], line))
    is_complete = _has_room(last, line, right) and ends_sentence(last.text)  # the next word would have fitted
    return is_complete and not line.text[:1].islower()


def _breaks_word(last: Line, line: Line, body: Body) -> bool:
    """Whether a line set like a heading ends within a word: in small capitals the rest of it has a smaller size."""
    if not (last.text[-1:] == "-" and last.text[-2:-1].isalpha() and line.text[:1].isalpha()):
        return False
    near = 0 < line.y - last.y < 1.3 * body.leading * last.size
    same_case = last.upper == line.upper and (line.upper or line.text[:1].islower())
    same_style = last.bold == line.bold and 0.7 * last.size < line.size < 1.07 * last.size
    return _looks_like_heading(last, body) and near and same_case and same_style


def _looks_like_heading(line: Line, body: Body) -> bool:
    """Whether a line is set like a heading, whose lines belong together whatever their indents."""
    return line.size > 1.06 * body.size or (line.bold and not body.bold) or (line.upper and not body.upper)


def _changes_style(block: LayoutBlock, line: Line, body: Body) -> bool:
    last = block.last
    if abs(last.size - line.size) > 0.07 * max(last.size, line.size) and min(len(last.text), len(line.text)) > 3:
        return True
    if last.bold and line.bold_start and not line.bold:
        return read_number(block.first.text) is not None  # a label over two lines, unless it is a numbered heading
    if last.bold != line.bold:
        # a bold label may be followed by plain text on its line; an entirely bold line is separate
        return last.bold or len(line.text) > 3
    if last.mono != line.mono:
        return True
    if (last.upper and not line.upper) or last.font not in (line.font, body.font):
        return _has_room(last, line, last.right)  # a heading in capitals, small capitals or italics, and its text
    return False


def _is_indented(block: LayoutBlock, line: Line, after: Line | None) -> bool:
    """Whether a line is the indented first line of a paragraph."""
    step = line.x0 - block.last.x0
    if not 0.7 * line.size < step < 5 * line.size:
        return False
    complete = ends_sentence(block.last.text)
    if len(block.lines) == 1 and after is not None and abs(after.x0 - line.x0) < 2 and not complete:
        return False  # a hanging indent: all lines but the first are indented
    if after is None or after.column != line.column:
        return complete
    returns = after.x0 < line.x0 - 0.7 * line.size or after.y - line.y > 1.6 * line.size
    return returns and (complete or abs(after.x0 - block.last.x0) < 2)


def _has_room(last: Line, line: Line, right: float) -> bool:
    """Whether the first word of `line` would have fitted after `last` in a column that ends at `right`."""
    word = line.text.split(" ", 1)[0]
    letter = line.width / max(len(line.text), 1)
    return right - last.x1 > (len(word) + 4) * letter


def merged(blocks: list[LayoutBlock], belongs: Callable[[LayoutBlock, LayoutBlock], bool]) -> list[LayoutBlock]:
    """The blocks, each joined to the last one before it where it belongs to that."""
    result: list[LayoutBlock] = []
    for block in blocks:
        if result and belongs(result[-1], block):
            result[-1].lines += block.lines
        else:
            result.append(block)
    return result
