"""Lines: the pieces of one column that stand on one baseline."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from longmatch.documents.pdf.pieces import Piece

_SPREAD = re.compile(r"(?:\w ){4,}\w(?=\W|$)")


@dataclass(slots=True)
class Line:
    """A line of a column. `cells` counts the stretches of text with wide gaps between them."""

    text: str
    x0: float
    x1: float
    y: float
    size: float
    bold: bool
    italic: bool
    mono: bool
    font: str
    marked: bool
    cells: int
    page: int  # counted from 1
    column: int = 0  # number of the column it stands in, counted through the document
    left: float = 0.0  # the column's edges
    right: float = 0.0

    @property
    def width(self) -> float:
        """From its left to its right edge."""
        return self.x1 - self.x0

    @property
    def upper(self) -> bool:
        """Written in capitals, small ones included."""
        return self.text.isupper() and sum(map(str.isalpha, self.text)) > 2

    @property
    def style(self) -> tuple[float, bool, bool, bool]:
        """What tells headings of one level from those of another: size, weight, capitals, slant."""
        return (round(2 * self.size) / 2, self.bold, self.upper, self.italic)


def rows_of(pieces: Iterable[Piece]) -> list[list[Piece]]:
    """Group pieces by baseline, top to bottom, each row left to right."""
    rows: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda piece: piece.y):
        for row in reversed(rows[-3:]):
            if _same_row(max(row, key=_width), piece):
                row.append(piece)
                break
        else:
            rows.append([piece])
    rows.sort(key=lambda row: max(row, key=_width).y)
    return [sorted(row, key=lambda piece: piece.x0) for row in rows]


def _width(piece: Piece) -> float:
    return piece.width


def _same_row(main: Piece, piece: Piece) -> bool:
    overlap = min(main.bottom, piece.bottom) - max(main.top, piece.top)
    return overlap > 0.55 * min(main.size, piece.size)


def line_of(row: list[Piece], page: int) -> Line:
    """One line from the pieces of a row."""
    text, cells, end = row[0].text, 1, row[0].x1
    for piece in row[1:]:
        gap = piece.x0 - end
        size = max(piece.size, row[0].size)
        if gap > 1.3 * size:
            cells += 1
        text += ("   " if gap > 1.3 * size else " " if gap > 0.11 * size else "") + piece.text
        end = max(end, piece.x1)
    if _SPREAD.match(text):  # A B S T R A C T
        text = _SPREAD.sub(lambda found: found[0].replace(" ", ""), text)
    longest = max(row, key=lambda piece: len(piece.text))
    upper = text.isupper() and len(text) > 2
    size = max(piece.top_size for piece in row) if upper else longest.size
    words = [piece for piece in row if any(map(str.isalpha, piece.text))] or row
    bold, italic, mono = (all(getattr(piece, trait) for piece in words) for trait in ("bold", "italic", "mono"))
    x0, x1 = row[0].x0, max(piece.x1 for piece in row)
    return Line(text, x0, x1, longest.y, size, bold, italic, mono, longest.font, row[0].marked, cells, page)
