"""Lines of a page: the fragments of one column that share a baseline."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter

from longmatch.documents.pdf.fragments import Fragment

CAPTION_LABEL = re.compile(
    r"(?:figure|fig\.?|table|tab\.|algorithm|listing|scheme|chart|exhibit|plate|abbildung|abb\.|tabelle|tableau|figura|tabla)"
    r"\s*(?:[A-Z][.-]?)?(?:\d+|[IVXL]+\b)(?:[.-]\d+)*[a-z]?(?P<after>\s*[:.|–—-]|\s*\(|\s*$|\s+)|[图表図圖]\s*\d+(?P<zh>[.:：\s-]|$)",
    re.IGNORECASE,
)
"""How a line that opens a caption begins; so may a sentence about the figure."""
_CELL_GAP = 1.05  # ems between two cells
_LETTER_SPACED = re.compile(r"(?:\w ){4,}\w(?=\W|$)")


@dataclass(slots=True)
class Line(Fragment):
    """The text of a row in a column. `cells` counts the stretches of text separated by wide gaps."""

    cells: int = 1
    page: int = 0  # from 1
    column: int = 0  # number of its column in the document
    left: float = 0.0  # the column's edges
    right: float = 0.0

    @property
    def upper(self) -> bool:
        """Whether it is in capitals or small capitals."""
        return self.text.isupper() and sum(map(str.isalpha, self.text)) > 2

    @property
    def style(self) -> tuple[float, bool, bool, bool]:
        """Size, bold, capitals, italic: what distinguishes the headings of one level from those of another."""
        return (round(2 * self.size) / 2, self.bold, self.upper, self.italic)


def rows_of(fragments: Iterable[Fragment]) -> list[list[Fragment]]:
    """Group fragments by baseline, top to bottom, each row left to right."""
    rows: list[list[Fragment]] = []  # the widest fragment of a row comes first
    heights: list[tuple[float, float, float, float]] = []  # of each row's widest: top, bottom, size, width
    for fragment in sorted(fragments, key=attrgetter("y")):
        top, bottom, size, width = height = fragment.top, fragment.bottom, fragment.size, fragment.width
        for place in range(len(rows) - 1, max(len(rows) - 4, -1), -1):
            row_top, row_bottom, row_size, row_width = heights[place]
            overlap = (row_bottom if row_bottom < bottom else bottom) - (row_top if row_top > top else top)
            if overlap > 0.55 * (row_size if row_size < size else size):
                row = rows[place]
                row.append(fragment)
                if width > row_width:
                    row[0], row[-1], heights[place] = row[-1], row[0], height
                break
        else:
            rows.append([fragment])
            heights.append(height)
    rows.sort(key=lambda row: row[0].y)
    merged: list[list[Fragment]] = []
    for index, row in enumerate(rows):
        # Tiny rows, such as the limits of a sum, belong to the neighbouring line that has a gap for them
        tiny = len(row[0].text) <= 4 and sum(len(fragment.text) for fragment in row) <= 4
        tiny = tiny and not all(fragment.text.isdigit() for fragment in row)
        neighbours = [*rows[index + 1 : index + 3], *merged[-2:]] if tiny else []
        target = next((other for other in neighbours if all(_fits(fragment, other) for fragment in row)), None)
        if target is None:
            merged.append(row)
        else:
            target.extend(row)
    return [sorted(row, key=attrgetter("x0")) for row in merged]


def _fits(limit: Fragment, row: list[Fragment]) -> bool:
    main = row[0]
    left, right = min(fragment.x0 for fragment in row), max(fragment.x1 for fragment in row)
    near = max(main.top, limit.top) < min(main.bottom, limit.bottom) + 0.1 * limit.size
    inside = left - 2 * limit.size < limit.x0 < right + limit.size
    free = all(min(limit.x1, fragment.x1) - max(limit.x0, fragment.x0) < 0.2 * limit.size for fragment in row)
    return len(main.text) > 15 and near and inside and free


def make_line(row: list[Fragment], page: int) -> Line:
    """Make a line from the fragments of a row."""
    text, cells, end = row[0].text, 1, row[0].x1
    for fragment in row[1:]:
        gap = fragment.x0 - end
        size = max(fragment.size, row[0].size)
        if gap > _CELL_GAP * size:
            cells += 1
        text += ("   " if gap > _CELL_GAP * size else " " if gap > 0.11 * size else "") + fragment.text
        end = max(end, fragment.x1)
    if _LETTER_SPACED.match(text):  # A B S T R A C T
        text = _LETTER_SPACED.sub(lambda match: match[0].replace(" ", ""), text)
    longest = max(row, key=lambda fragment: len(fragment.text))
    upper = text.isupper() and len(text) > 2
    size = max(fragment.top_size for fragment in row) if upper else longest.size
    words = [fragment for fragment in row if any(map(str.isalpha, fragment.text))] if len(row) > 1 else row
    return Line(
        text,
        row[0].x0,
        max(fragment.x1 for fragment in row),
        longest.y,
        size,
        all(fragment.bold for fragment in words or row),
        all(fragment.italic for fragment in words or row),
        all(fragment.mono for fragment in words or row),
        longest.font,
        row[0].marked,
        row[0].bold_start,
        cells=cells,
        page=page,
    )
