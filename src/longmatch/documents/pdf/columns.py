"""Columns and reading order: from the pieces of a page to its lines, in the order they are read."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from longmatch.documents.pdf.insets import without_insets
from longmatch.documents.pdf.lines import Line, line_of, rows_of
from longmatch.documents.pdf.pieces import Piece

_PROSE_WIDTH = 0.2  # of the width of what is looked at
_DEPTH = 3  # so many gutters at most beside each other, halved each time

Row = list[Piece]


@dataclass
class ColumnReader:
    """Orders the lines of page after page, and numbers the columns through the document.

    `usual` are the gutters found on other pages: a page with little text follows them.
    """

    usual: tuple[float, ...] = ()
    column: int = 0

    def lines(self, pieces: list[Piece], page: int) -> list[Line]:
        """The lines of a page in reading order."""
        lines: list[Line] = []
        for group in self._groups(pieces):
            self.column += 1
            found = [line_of(row, page) for row in rows_of(group)]
            left, right = _edges(found)
            for line in found:
                line.column, line.left, line.right = self.column, left, right
            lines += found
        return lines

    def _groups(self, pieces: list[Piece]) -> Iterator[list[Piece]]:
        """The columns of a page, and what is set into them."""
        for column in self._columns(pieces, _DEPTH):
            yield from filter(None, without_insets(column))

    def _columns(self, pieces: list[Piece], depth: int) -> Iterator[list[Piece]]:
        """Cut a region into columns in reading order, what runs across the gutter between them."""
        gutter = find_gutter(pieces, self.usual) if depth else None
        if gutter is None:
            if pieces:
                yield pieces
            return
        for spanning, rows in _bands(rows_of(pieces), _Sides.of(pieces, gutter)):
            band = [piece for row in rows for piece in row]
            if spanning:
                yield band
                continue
            yield from self._columns([piece for piece in band if piece.x1 <= gutter + 2], depth - 1)
            yield from self._columns([piece for piece in band if piece.x1 > gutter + 2], depth - 1)


@dataclass(frozen=True)
class _Sides:
    """The columns left and right of a gutter: where their lines begin, and how wide the narrower one is."""

    gutter: float
    left: float
    right: float
    reach: float
    start: float  # the edges of all text
    end: float

    @classmethod
    def of(cls, pieces: list[Piece], gutter: float) -> "_Sides":
        """Measured on the lines of text, which all the page's columns have."""
        before = sorted(piece.x0 for piece in pieces if piece.prose and piece.x1 <= gutter + 2)
        after = sorted(piece.x0 for piece in pieces if piece.prose and piece.x0 >= gutter - 4)
        left = before[len(before) // 10] if before else min(piece.x0 for piece in pieces)
        right = after[len(after) // 10] if after else gutter
        start, end = min(piece.x0 for piece in pieces), max(piece.x1 for piece in pieces)
        return cls(gutter, left, right, min(gutter - left, end - right), start, end)

    def crossed(self, row: Row) -> bool:
        """Whether a piece of the row runs across the gutter."""
        return any(piece.x0 < self.gutter - 4 and piece.x1 > self.gutter + 4 for piece in row)

    def scattered(self, block: list[Row]) -> bool:
        """Short pieces on both sides, no line of text, and not set at the columns' edges: cells or names."""
        pieces = [piece for row in block for piece in row]
        left = [piece for piece in pieces if piece.x1 <= self.gutter + 2]
        if not left or len(left) == len(pieces):
            return False
        if all(self._at_edges(row) for row in block):
            return False
        return not any(piece.prose and piece.width > 0.7 * self.reach for piece in pieces)

    def centred(self, block: list[Row]) -> bool:
        """Short lines in the middle of the page and nothing beside them: a title over the columns."""
        middle = (self.start + self.end) / 2
        return all(
            len(row) == 1
            and row[0].width < 0.8 * self.reach
            and abs((row[0].x0 + row[0].x1) / 2 - middle) < 0.03 * (self.end - self.start)
            for row in block
        )

    def _at_edges(self, row: Row) -> bool:
        """Whether each side of a row is one stretch of text that begins at its column's edge, as headings do."""
        for edge, side in (
            (self.left, [piece for piece in row if piece.x1 <= self.gutter + 2]),
            (self.right, [piece for piece in row if piece.x1 > self.gutter + 2]),
        ):
            if side and abs(side[0].x0 - edge) > 1.2 * side[0].size:
                return False
            if any(after.x0 - before.x1 > 2 * after.size for before, after in pairwise(side)):
                return False
        return True


def usual_gutters(pages: list[list[Piece]]) -> tuple[float, ...]:
    """The gutters that many pages share."""
    found = [gutter for pieces in pages if (gutter := find_gutter(pieces)) is not None]
    shared = [
        gutter for gutter in found if sum(abs(other - gutter) < 12 for other in found) >= max(2, 0.2 * len(pages))
    ]
    usual: list[float] = []
    for gutter in sorted(shared):
        if not usual or gutter - usual[-1] > 12:
            usual.append(median(other for other in shared if abs(other - gutter) < 12))
    return tuple(usual)


def find_gutter(pieces: list[Piece], usual: tuple[float, ...] = ()) -> float | None:
    """The middle of the vertical stripe that has text on both sides and hardly any across, if there is one.

    Only pieces long enough to be text count: the gaps of a table make no columns.
    """
    if len(pieces) < 2:
        return None
    left, right = min(piece.x0 for piece in pieces), max(piece.x1 for piece in pieces)
    width = right - left
    prose = [p for p in pieces if p.prose and p.width >= _PROSE_WIDTH * width]
    best: tuple[float, float, float] | None = None
    for start, end in _stripes(prose, left, right):
        before = [piece for piece in prose if piece.x1 <= start + 0.1]
        after = [piece for piece in prose if piece.x0 >= end - 0.1]
        across = len(prose) - len(before) - len(after)
        beside = _beside(before, after) if _aligned(before) and _aligned(after) else (0, 0)
        expected = any(start - 6 <= gutter <= end + 6 for gutter in usual)
        enough = 1 if expected else 4
        if min(beside) >= enough and (expected or across <= 3 * min(beside)):
            score = min(beside) - 0.5 * across
            if best is None or (score, end - start) > best[:2]:
                best = (score, end - start, (start + end) / 2)
    return best[2] if best else None


def _stripes(prose: list[Piece], left: float, right: float) -> Iterator[tuple[float, float]]:
    """Stripes between the right edges of some pieces and the left edges of others."""
    ends = sorted({round(piece.x1, 1) for piece in prose})
    starts = sorted({round(piece.x0, 1) for piece in prose})
    width = right - left
    for start in starts:
        if not left + 0.15 * width < start < right - 0.15 * width:
            continue
        inner = [end for end in ends if end < start]
        if inner and sum(abs(piece.x0 - start) < 1 for piece in prose) >= 1:
            # the right edge that most pieces ending before this stripe respect
            yield max(end for end in inner), start


def _aligned(pieces: list[Piece]) -> bool:
    """Whether most pieces begin near one left edge, as a column's lines do and formulas do not."""
    if not pieces:
        return False
    edges = sorted(piece.x0 for piece in pieces)
    edge = edges[len(edges) // 10]
    return sum(edge - 6 < x < edge + 2.5 * pieces[0].size for x in edges) >= 0.5 * len(edges)


def _beside(before: list[Piece], after: list[Piece]) -> tuple[int, int]:
    """How many pieces on each side stand beside the other side's text."""
    if not before or not after:
        return 0, 0
    top = max(min(p.top for p in before), min(p.top for p in after))
    bottom = min(max(p.bottom for p in before), max(p.bottom for p in after))
    return tuple(sum(p.bottom > top and p.top < bottom for p in side) for side in (before, after))  # type: ignore[return-value]


def _bands(rows: list[Row], sides: _Sides) -> Iterator[tuple[bool, list[Row]]]:
    """Runs of rows: those with text across the gutter, and those without; a table over both columns is across."""
    start = 0
    for end in range(1, len(rows) + 1):
        if end < len(rows) and sides.crossed(rows[end]) == sides.crossed(rows[start]):
            continue
        if sides.crossed(rows[start]):
            yield True, rows[start:end]
        else:
            yield from _free_bands(rows[start:end], sides)
        start = end


def _free_bands(rows: list[Row], sides: _Sides) -> Iterator[tuple[bool, list[Row]]]:
    """Part a table, or a block of names, over both columns from the columns below or above it."""
    blocks = _blocks(rows)
    scattered = [sides.scattered(block) for block in blocks]
    for index, block in enumerate(blocks[:-1]):
        if not scattered[index] and not sides.centred(block):
            break
        scattered[index] = True
    first = next((i for i, s in enumerate(scattered) if not s), len(blocks))
    last = len(blocks) - next((i for i, s in enumerate(reversed(scattered)) if not s), 0)
    for block in blocks[:first]:
        yield True, block
    middle = [row for block in blocks[first:last] for row in block]
    if middle:
        yield False, middle
    for block in blocks[max(first, last) :]:
        yield True, block


def _blocks(rows: list[Row]) -> list[list[Row]]:
    """Cut rows where a gap runs through both columns."""
    blocks = [[rows[0]]]
    bottom = max(piece.bottom for piece in rows[0])
    for row in rows[1:]:
        top = min(piece.top for piece in row)
        if top - bottom > 0.8 * max(piece.size for piece in row):
            blocks.append([])
        blocks[-1].append(row)
        bottom = max(bottom, *(piece.bottom for piece in row))
    return blocks


def _edges(lines: list[Line]) -> tuple[float, float]:
    """The column's left and right edge: where lines usually begin and end."""
    lefts, rights = sorted(line.x0 for line in lines), sorted(line.x1 for line in lines)
    return lefts[len(lefts) // 10], rights[-1 - len(rights) // 20]
