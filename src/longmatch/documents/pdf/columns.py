"""Columns and reading order: from the fragments of a page to its lines."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import median

import numpy as np
import numpy.typing as npt

from longmatch.documents.pdf.fragments import Fragment
from longmatch.documents.pdf.lines import CAPTION_LABEL, Line, make_line, rows_of

_MIN_LINES = 4  # beside an inset
_PROSE_WIDTH = 0.2  # of the region's width
_MAX_DEPTH = 3  # of regions split at gutters

Row = list[Fragment]
Sides = npt.NDArray[np.float64]  # (fragments, 5): left, right, top, bottom, size


@dataclass
class ColumnReader:
    """Puts the lines of each page in reading order, and numbers the columns of the document.

    `usual` are the gutters shared by many pages; a page with little text is split there too.
    """

    usual: tuple[float, ...] = ()
    column: int = 0

    def lines(self, fragments: list[Fragment], page: int) -> list[Line]:
        """The lines of a page in reading order."""
        lines: list[Line] = []
        insets_apart = (group for column in self._columns(fragments, _MAX_DEPTH) for group in split_insets(column))
        for group in filter(None, insets_apart):
            self.column += 1
            column = [make_line(row, page) for row in rows_of(group)]
            lefts, rights = sorted(line.x0 for line in column), sorted(line.x1 for line in column)
            left, right = lefts[len(lefts) // 10], rights[-1 - len(rights) // 20]  # where most lines begin and end
            for line in column:
                line.column, line.left, line.right = self.column, left, right
            lines += column
        return lines

    def _columns(self, fragments: list[Fragment], depth: int) -> Iterator[list[Fragment]]:
        """Split a region into columns in reading order, with bands that cross the gutter between them."""
        gutter = find_gutter(fragments, self.usual) if depth else None
        if gutter is None:
            if fragments:
                yield fragments
            return
        sides = _Sides(fragments, gutter)
        bands: list[tuple[bool, list[Row]]] = []  # runs of rows, and whether each spans the gutter
        for crosses, run in groupby(rows_of(fragments), lambda row: any(_crosses(part, gutter) for part in row)):
            between = list(run)
            bands += [(True, between)] if crosses else _split_band(between, sides)
        for spanning, rows in bands:
            band = [fragment for row in rows for fragment in row]
            if spanning:
                yield band
                continue
            yield from self._columns([fragment for fragment in band if fragment.x1 <= gutter + 2], depth - 1)
            yield from self._columns([fragment for fragment in band if fragment.x1 > gutter + 2], depth - 1)


class _Sides:
    """The columns left and right of a gutter, measured by their lines of text."""

    def __init__(self, fragments: list[Fragment], gutter: float) -> None:
        before = sorted(fragment.x0 for fragment in fragments if fragment.prose and fragment.x1 <= gutter + 2)
        after = sorted(fragment.x0 for fragment in fragments if fragment.prose and fragment.x0 >= gutter - 4)
        self.gutter = gutter
        self.start, self.end = min(fragment.x0 for fragment in fragments), max(fragment.x1 for fragment in fragments)
        self.left = before[len(before) // 10] if before else self.start  # where most lines of a column begin
        self.right = after[len(after) // 10] if after else gutter
        self.narrower = min(gutter - self.left, self.end - self.right)  # the width of that column

    def scattered(self, block: list[Row]) -> bool:
        """Whether a block has short fragments on both sides, away from the columns' edges: table cells or names."""
        fragments = [fragment for row in block for fragment in row]
        left = [fragment for fragment in fragments if fragment.x1 <= self.gutter + 2]
        if not left or len(left) == len(fragments):
            return False
        if all(self._at_edges(row) for row in block):
            return False
        return not any(fragment.prose and fragment.width > 0.7 * self.narrower for fragment in fragments)

    def centred(self, block: list[Row]) -> bool:
        """Whether a block consists of short centred lines: a title above the columns."""
        middle = (self.start + self.end) / 2
        return all(
            len(row) == 1
            and row[0].width < 0.8 * self.narrower
            and abs((row[0].x0 + row[0].x1) / 2 - middle) < 0.03 * (self.end - self.start)
            for row in block
        )

    def _at_edges(self, row: Row) -> bool:
        """Whether each side of a row is one stretch of text that begins at its column's edge, like a heading."""
        for edge, side in (
            (self.left, [fragment for fragment in row if fragment.x1 <= self.gutter + 2]),
            (self.right, [fragment for fragment in row if fragment.x1 > self.gutter + 2]),
        ):
            if side and abs(side[0].x0 - edge) > 1.2 * side[0].size:
                return False
            if any(after.x0 - before.x1 > 2 * after.size for before, after in pairwise(side)):
                return False
        return True


def usual_gutters(pages: list[list[Fragment]]) -> tuple[float, ...]:
    """The gutters shared by many pages."""
    gutters = [gutter for fragments in pages if (gutter := find_gutter(fragments)) is not None]
    shared = [
        gutter for gutter in gutters if sum(abs(other - gutter) < 12 for other in gutters) >= max(2, 0.2 * len(pages))
    ]
    usual: list[float] = []
    for gutter in sorted(shared):
        if not usual or gutter - usual[-1] > 12:
            usual.append(median(other for other in shared if abs(other - gutter) < 12))
    return tuple(usual)


def find_gutter(fragments: list[Fragment], usual: tuple[float, ...] = ()) -> float | None:
    """The middle of the vertical stripe with text on both sides and hardly any across it, if there is one.

    Only fragments long enough to be prose count, so that the gaps of a table are not taken for gutters.
    """
    if len(fragments) < 2:
        return None
    left, right = min(fragment.x0 for fragment in fragments), max(fragment.x1 for fragment in fragments)
    width = right - left
    prose = [p for p in fragments if p.prose and p.x1 - p.x0 >= _PROSE_WIDTH * width]
    sides = np.array([(p.x0, p.x1, p.top, p.bottom, p.size) for p in prose]).reshape(-1, 5)
    edges = sorted({round(fragment.x1, 1) for fragment in prose})
    best: tuple[float, float, float] | None = None
    for end in sorted({round(fragment.x0, 1) for fragment in prose}):
        place = bisect_left(edges, end)
        if not left + 0.15 * width < end < right - 0.15 * width or not place:
            continue
        start = edges[place - 1]  # where the fragments to the left of the stripe end
        before, after = sides[sides[:, 1] <= start + 0.1], sides[sides[:, 0] >= end - 0.1]
        across = len(prose) - len(before) - len(after)
        facing = _facing(before, after) if _aligned(before) and _aligned(after) else 0
        expected = any(start - 6 <= gutter <= end + 6 for gutter in usual)
        if facing >= (1 if expected else 4) and (expected or across <= 3 * facing):
            score = facing - 0.5 * across
            if best is None or (score, end - start) > best[:2]:
                best = (score, end - start, (start + end) / 2)
    return best[2] if best else None


def _aligned(sides: Sides) -> bool:
    """Whether most fragments begin near one left edge, like the lines of a column and unlike formulas."""
    if not len(sides):
        return False
    starts, size = np.sort(sides[:, 0]), sides[0, 4]
    edge = starts[len(starts) // 10]
    near = (edge - 6 < starts) & (starts < edge + 2.5 * size)
    return bool(near.sum() >= 0.5 * len(starts))


def _facing(before: Sides, after: Sides) -> int:
    """The fragments that are level with text on the other side, of the side that has fewer of them."""
    top = max(before[:, 2].min(), after[:, 2].min())
    bottom = min(before[:, 3].max(), after[:, 3].max())
    return min(int(((side[:, 3] > top) & (side[:, 2] < bottom)).sum()) for side in (before, after))


def _split_band(rows: list[Row], sides: _Sides) -> Iterator[tuple[bool, list[Row]]]:
    """Separate tables and blocks of names over both columns, which span the gutter, from the columns between them."""
    blocks = [[rows[0]]]  # split where a gap runs through both columns
    bottom = max(fragment.bottom for fragment in rows[0])
    for row in rows[1:]:
        if min(fragment.top for fragment in row) - bottom > 0.8 * max(fragment.size for fragment in row):
            blocks.append([])
        blocks[-1].append(row)
        bottom = max(bottom, *(fragment.bottom for fragment in row))
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


def split_insets(fragments: list[Fragment]) -> Iterator[list[Fragment]]:
    """Yield each wrapped figure, then the rest of the column, then captions beside others."""
    at_left, at_right = _narrow(fragments)
    groups = list(_insets(fragments, at_left)) if at_left else []
    if at_right:
        mirrored = {id(f): Fragment(f.text, -f.x1, -f.x0, f.y, f.size, prose=f.prose) for f in fragments}
        originals = {id(image): f for f, image in zip(fragments, mirrored.values(), strict=True)}
        found = _insets(list(mirrored.values()), [mirrored[id(f)] for f in at_right])
        groups += [[originals[id(image)] for image in inset] for inset in found]
    taken = {(fragment.x0, fragment.y, fragment.text) for group in groups for fragment in group}
    rest = [f for f in fragments if (f.x0, f.y, f.text) not in taken] if taken else fragments
    captions = _side_captions(rest)
    captioned = {id(fragment) for caption in captions for fragment in caption}
    yield from groups
    yield [fragment for fragment in rest if id(fragment) not in captioned]
    yield from captions


def _narrow(fragments: list[Fragment]) -> tuple[list[Fragment], list[Fragment]]:
    """The lines that begin at the left edge and end well before the right one, and those that begin well after the
    left edge and end at the right one.
    """
    prose = [fragment for fragment in fragments if fragment.prose]
    if len(prose) < 4:
        return [], []
    left = sorted(fragment.x0 for fragment in prose)[len(prose) // 10]
    right = sorted(fragment.x1 for fragment in prose)[-1 - len(prose) // 10]
    far, near = 0.25 * (right - left), 0.15 * (right - left)
    at_left = [f for f in prose if abs(f.x0 - left) < 2.5 * f.size and left + far < f.x1 < right - near]
    at_right = [f for f in prose if abs(f.x1 - right) < 2.5 * f.size and left + near < f.x0 < right - far]
    return at_left, at_right


def _insets(fragments: list[Fragment], narrow: list[Fragment]) -> Iterator[list[Fragment]]:
    """Fragments to the right of narrow lines that all end at one position."""
    taken: set[int] = set()
    for edge in sorted({round(fragment.x1) for fragment in narrow}):
        lines = sorted((f for f in narrow if abs(f.x1 - edge) < 1.5), key=lambda f: f.y)
        for run in _runs(lines, fragments, edge):
            across = [fragment.y for fragment in fragments if _crosses(fragment, edge)]
            top = max((y for y in across if y < run[0].y), default=float("-inf"))
            bottom = min((y for y in across if y > run[-1].y), default=float("inf"))
            inset = [p for p in fragments if p.x0 > edge + 2 and top < p.y < bottom and id(p) not in taken]
            letters, beside = (sum(len(p.text) for p in group if p.prose) for group in (inset, run))
            if inset and letters < beside:
                taken |= {id(fragment) for fragment in inset}
                yield inset


def _crosses(fragment: Fragment, edge: float) -> bool:
    return fragment.x0 < edge - 4 and fragment.x1 > edge + 4


def _runs(lines: list[Fragment], fragments: list[Fragment], edge: float) -> Iterator[list[Fragment]]:
    """Runs of at least four closely spaced lines that end at the edge, with nothing crossing it in between."""
    run: list[Fragment] = []
    for line in lines:
        if run and (
            line.y - run[-1].y > 4 * line.size
            or any(_crosses(fragment, edge) and run[-1].y < fragment.y < line.y for fragment in fragments)
        ):
            if len(run) >= _MIN_LINES:
                yield run
            run = []
        run.append(line)
    if len(run) >= _MIN_LINES:
        yield run


def _side_captions(fragments: list[Fragment]) -> list[list[Fragment]]:
    """Captions with other text to their left, such as that of the second of two figures."""
    captions: list[list[Fragment]] = []
    if not any(CAPTION_LABEL.match(fragment.text) for fragment in fragments):
        return captions
    rows = rows_of(fragments)
    for index, row in enumerate(rows):
        for before, fragment in pairwise(row):
            label, gap = CAPTION_LABEL.match(fragment.text), fragment.x0 - before.x1
            if not label or not (label["after"] or label["zh"] or "").strip() or gap < 0.5 * fragment.size:
                continue
            caption = [fragment]
            for below in rows[index + 1 :]:
                aligned = (f for f in below if f.x0 > before.x1 and abs(f.x0 - fragment.x0) < 1.5 * f.size)
                next_line = next(aligned, None)
                if next_line is None or next_line.y - caption[-1].y > 1.6 * next_line.size:
                    break
                caption.append(next_line)
            captions.append(caption)
    return captions
