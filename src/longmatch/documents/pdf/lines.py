"""Lines: the pieces of one column that stand on one baseline."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from longmatch.documents.pdf.pieces import Piece

_CELL = 1.05  # ems of a gap between two cells
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
    bold_start: bool
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
    rows: list[list[Piece]] = []  # the widest piece of a row stands first
    for piece in sorted(pieces, key=lambda piece: piece.y):
        for row in reversed(rows[-3:]):
            if _same_row(row[0], piece):
                row.append(piece)
                if piece.x1 - piece.x0 > row[0].x1 - row[0].x0:
                    row[0], row[-1] = row[-1], row[0]
                break
        else:
            rows.append([piece])
    rows.sort(key=lambda row: row[0].y)
    return [sorted(row, key=lambda piece: piece.x0) for row in _crumbs_gathered(rows)]


def _crumbs_gathered(rows: list[list[Piece]]) -> list[list[Piece]]:
    """Put the limits of sums and the like, which make no line of their own, into the line that has a gap for them."""
    gathered: list[list[Piece]] = []
    for index, row in enumerate(rows):
        crumbs = sum(len(piece.text) for piece in row) <= 4 and not all(piece.text.isdigit() for piece in row)
        neighbours = [*rows[index + 1 : index + 3], *gathered[-2:]] if crumbs else []
        home = next((other for other in neighbours if all(_fits(piece, other) for piece in row)), None)
        if home is None:
            gathered.append(row)
        else:
            home.extend(row)
    return gathered


def _fits(crumb: Piece, row: list[Piece]) -> bool:
    main = row[0]
    left, right = min(piece.x0 for piece in row), max(piece.x1 for piece in row)
    near = max(main.top, crumb.top) < min(main.bottom, crumb.bottom) + 0.1 * crumb.size
    inside = left - 2 * crumb.size < crumb.x0 < right + crumb.size
    free = all(min(crumb.x1, piece.x1) - max(crumb.x0, piece.x0) < 0.2 * crumb.size for piece in row)
    return len(main.text) > 15 and near and inside and free


def _same_row(main: Piece, piece: Piece) -> bool:
    one, other = main.size, piece.size
    bottom = min(main.y + 0.25 * one, piece.y + 0.25 * other)
    top = max(main.y - 0.75 * one, piece.y - 0.75 * other)
    return bottom - top > 0.55 * min(one, other)


def line_of(row: list[Piece], page: int) -> Line:
    """One line from the pieces of a row."""
    text, cells, end = row[0].text, 1, row[0].x1
    for piece in row[1:]:
        gap = piece.x0 - end
        size = max(piece.size, row[0].size)
        if gap > _CELL * size:
            cells += 1
        text += ("   " if gap > _CELL * size else " " if gap > 0.11 * size else "") + piece.text
        end = max(end, piece.x1)
    if _SPREAD.match(text):  # A B S T R A C T
        text = _SPREAD.sub(lambda found: found[0].replace(" ", ""), text)
    longest = max(row, key=lambda piece: len(piece.text))
    upper = text.isupper() and len(text) > 2
    size = max(piece.top_size for piece in row) if upper else longest.size
    words = [piece for piece in row if any(map(str.isalpha, piece.text))] or row
    bold, italic, mono = (all(getattr(piece, trait) for piece in words) for trait in ("bold", "italic", "mono"))
    return Line(
        text=text,
        x0=row[0].x0,
        x1=max(piece.x1 for piece in row),
        y=longest.y,
        size=size,
        bold=bold,
        italic=italic,
        mono=mono,
        font=longest.font,
        marked=row[0].marked,
        bold_start=row[0].bold_start,
        cells=cells,
        page=page,
    )
