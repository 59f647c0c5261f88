"""Blocks: lines of one column that belong together, before it is said what they are."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from longmatch.documents.document import Kind
from longmatch.documents.pdf.captions import CAPTION
from longmatch.documents.pdf.lines import Line
from longmatch.documents.pdf.numbering import read_number

LIST_ITEM = re.compile(
    r"(?:[•◦▪‣●○■□◆–—*·∙-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)]|\[\d{1,5}\]|（[一二三四五六七八九十\d]+）|[一二三四五六七八九十]+、)\s+\S"
)
_TERMINAL = re.compile(r"[.!?:;。！？：；…][\"'”’)\]]*$")
_QUANTITY = re.compile(r"[-−–+±~<>≤≥(]*\d[\d.,]*[%)*†‡]*|[-–—]")
_EQUATION_NUMBER = re.compile(r"\(?[A-Z]?\.?\d+(?:\.\d+)?[a-z]?\)")


@dataclass(slots=True)
class Block:
    """Lines that belong together: a paragraph, a heading, a caption, a table."""

    lines: list[Line]
    kind: Kind | Literal["heading", "title", "contents"] = "text"
    level: int = 1
    text: str = ""  # where it is not just its lines joined

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
        """Its lines as they stand, blanks between them."""
        return " ".join(line.text for line in self.lines)


@dataclass(frozen=True)
class Body:
    """What the document's running text looks like; all else is judged against it."""

    size: float
    font: str
    bold: bool
    upper: bool
    pitch: float  # from baseline to baseline, in ems

    @classmethod
    def of(cls, lines: list[Line]) -> "Body":
        """The commonest size and font, by characters, and the usual distance of lines."""
        sizes: Counter[float] = Counter()
        for line in lines:
            sizes[round(line.size, 1)] += len(line.text)
        size = sizes.most_common(1)[0][0]
        fonts: Counter[str] = Counter()
        weights: Counter[tuple[bool, bool]] = Counter()
        for line in lines:
            if abs(line.size - size) < 0.3:
                fonts[line.font] += len(line.text)
                weights[line.bold, line.upper] += len(line.text)
        pitches = Counter(
            round((below.y - above.y) / above.size, 1)
            for above, below in pairwise(lines)
            if above.column == below.column and abs(above.size - size) < 0.3 and 0.8 < (below.y - above.y) / size < 3
        )
        pitch = pitches.most_common(1)[0][0] if pitches else 1.2
        bold, upper = weights.most_common(1)[0][0]
        return cls(size, fonts.most_common(1)[0][0], bold, upper, pitch)


def terminal(text: str) -> bool:
    """Whether a text ends as a sentence does."""
    return bool(_TERMINAL.search(text[-8:]))


def caption_start(line: Line, body: Body) -> bool:
    """Whether a line opens a caption: its label stands apart, by a mark after the number or by its style."""
    found = CAPTION.match(line.text)
    if not found:
        return False
    after = (found["after"] or found["zh"] or "").strip()
    lone = found.end() == len(line.text)
    return bool(after and after != "(") or lone or line.bold or line.size < 0.95 * body.size


def make_blocks(lines: list[Line], body: Body) -> list[Block]:
    """Cut the lines into tables and paragraphs."""
    tabular = _table_lines(lines, body)
    blocks: list[Block] = []
    for index, line in enumerate(lines):
        before = blocks[-1] if blocks else None
        after = lines[index + 1] if index + 1 < len(lines) else None
        if tabular[index]:
            if before and before.kind == "table" and before.last.column == line.column:
                before.lines.append(line)
            else:
                blocks.append(Block([line], "table"))
        elif before is None or before.kind == "table" or _breaks(before, line, after, body):
            blocks.append(Block([line]))
        else:
            before.lines.append(line)
    return blocks


def _cells(line: Line) -> int:
    """Cells of a line, an item's mark and an equation's number not counted."""
    tokens = line.text.split()
    numbers = sum(bool(_QUANTITY.fullmatch(token)) for token in tokens)
    if numbers >= 3 and numbers >= 0.5 * len(tokens):
        return max(line.cells, numbers)
    if line.cells == 1:
        return 1
    parts = re.split(r" {3}", line.text)
    if _EQUATION_NUMBER.fullmatch(parts[-1]):
        parts = parts[:-1]
    if (
        len(parts) > 1
        and (len(parts[0]) <= 2 or re.fullmatch(r"[\[(]?[\w.]{1,6}[.)\]]?", parts[0]))
        and len(parts) == 2
    ):
        parts = parts[1:]
    return len(parts)


def _table_lines(lines: list[Line], body: Body) -> list[bool]:
    """Which lines are rows of a table: several cells, and a neighbour with several cells."""
    cells = [_cells(line) if line.size < 1.15 * body.size else 1 for line in lines]  # larger: a stretched heading
    marked = [False] * len(lines)

    def near(one: int, other: int) -> bool:
        return lines[one].column == lines[other].column and abs(lines[one].y - lines[other].y) < 3.5 * lines[one].size

    rows = [index for index, count in enumerate(cells) if count >= 2]
    for above, below in pairwise(rows):
        if below - above <= 3 and near(above, below) and all(_short(line) for line in lines[above + 1 : below]):
            for index in range(above, below + 1):
                marked[index] = True
    for index in rows:
        marked[index] = marked[index] or cells[index] >= 4
    return marked


def _short(line: Line) -> bool:
    return line.width < 0.6 * (line.right - line.left) or len(line.text) < 12


def _breaks(block: Block, line: Line, after: Line | None, body: Body) -> bool:
    """Whether a line begins a new block."""
    last = block.last
    if line.column != last.column or _new_style(block, line, body):
        return True
    if after is not None and _cells(after) >= 2 and terminal(last.text) and caption_start(block.first, body):
        return True  # the head of a table right below its caption
    em = max(line.size, last.size)
    drop = line.y - last.y
    if drop > 1.3 * body.pitch * em or caption_start(line, body) or line.marked:
        return True
    if _heads(last, body) and _heads(line, body) and last.style == line.style:
        return read_number(block.first.text) is not None and read_number(line.text) is not None
    if LIST_ITEM.match(line.text) and (terminal(last.text) or LIST_ITEM.match(block.first.text)):
        return True
    return _indented(block, line, after) or _outdented(block, line) or _ended(block, line)


def _heads(line: Line, body: Body) -> bool:
    """Whether a line looks like a heading's, which goes on below however it is set in."""
    return line.size > 1.06 * body.size or (line.bold and not body.bold) or (line.upper and not body.upper)


def _new_style(block: Block, line: Line, body: Body) -> bool:
    last = block.last
    if abs(last.size - line.size) > 0.07 * max(last.size, line.size) and min(len(last.text), len(line.text)) > 3:
        return True
    if last.bold and line.bold_start and not line.bold:
        return read_number(block.first.text) is not None  # a label over two lines, unless it is a numbered heading
    if last.bold != line.bold:
        # a bold label may run on into plain text; a bold line of its own does not
        return last.bold or len(line.text) > 3
    if last.mono != line.mono:
        return True
    if (last.upper and not line.upper) or last.font not in (line.font, body.font):
        return _room(last, line, last.right)  # a heading in capitals, small capitals or italics, and its text
    return False


def _indented(block: Block, line: Line, after: Line | None) -> bool:
    """A first line set in, the block before it having come back to the edge."""
    step = line.x0 - block.last.x0
    if not 0.7 * line.size < step < 5 * line.size:
        return False
    if len(block.lines) == 1 and after is not None and abs(after.x0 - line.x0) < 2 and not terminal(block.last.text):
        return False  # a hanging indent: the first line stands out, the others are set in
    if after is None or after.column != line.column:
        return terminal(block.last.text)
    returns = after.x0 < line.x0 - 0.7 * line.size or after.y - line.y > 1.6 * line.size
    return returns and (terminal(block.last.text) or abs(after.x0 - block.last.x0) < 2)


def _outdented(block: Block, line: Line) -> bool:
    """Back at the edge after the set-in lines of an entry."""
    return len(block.lines) > 1 and line.x0 < block.last.x0 - 0.7 * line.size and block.first.x0 < block.last.x0 - 2


def _ended(block: Block, line: Line) -> bool:
    """The last line left room for the next word: its paragraph was over."""
    last = block.last
    right = max(other.x1 for other in (*block.lines[-6:], line))
    return _room(last, line, right) and terminal(last.text) and not line.text[:1].islower()


def _room(last: Line, line: Line, right: float) -> bool:
    """Whether the next line's first word would have fitted behind the last line."""
    word = line.text.split(" ", 1)[0]
    letter = line.width / max(len(line.text), 1)
    return right - last.x1 > (len(word) + 4) * letter


def column_runs(lines: list[Line]) -> Iterator[list[Line]]:
    """The lines of each column in turn."""
    start = 0
    for end in range(1, len(lines) + 1):
        if end == len(lines) or lines[end].column != lines[start].column:
            yield lines[start:end]
            start = end
