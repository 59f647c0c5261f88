"""What changed in the tables of two versions, cell by cell: the row, the column, and what stood there before and after.

Rows are matched in order where they are the same, then by their first cell, columns by the cells of the first row.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

import numpy as np

from longmatch.documents.paragraph_kinds import table_cells
from longmatch.reuse.align import Block, align
from longmatch.reuse.fates import Fates
from longmatch.reuse.text_units import TextUnits
from longmatch.reuse.version import Version
from longmatch.reuse.words import visible

Row = list[str]
Places = tuple[int | None, int | None]


@dataclass(frozen=True)
class CellChange:
    """A cell that is not the same in both versions; empty where it is not there."""

    row: str  # the row's first cell
    column: str  # the column's first cell
    before: str
    after: str


@dataclass(frozen=True)
class TableChange:
    """A table of either version that is not the same in the other."""

    section: str
    status: Literal["changed", "added", "removed"]
    cells: tuple[CellChange, ...]


def table_changes(a: Version, b: Version, fates: Fates) -> tuple[TableChange, ...]:
    """The tables that differ, in the order of the second version; those that are gone last."""
    partners = _partners(a, b, fates)
    kept = set(partners.values())
    found = [_change(a, partners.get(table), b, table) for table in _tables(b.units)]
    found += [_change(a, table, b, None) for table in _tables(a.units) if table not in kept]
    return tuple(change for change in found if change.cells)


def _tables(units: TextUnits) -> list[int]:
    """The blocks that are tables."""
    return [number for number, block in enumerate(units.blocks) if block.kind == "table"]


def _partners(a: Version, b: Version, fates: Fates) -> dict[int, int]:
    """The table of a that each table of b was: the one it shares most words with, else the next of the same section."""
    own, other = set(_tables(a.units)), set(_tables(b.units))
    shared = Counter(
        (a.units.units[i].block, b.units.units[j].block)
        for j, i in enumerate(fates.b_partner.tolist())
        if i >= 0 and b.units.units[j].block in other
    )
    became = {i: group.b for group in fates.groups for i in group.a}
    beside = (
        (i, j) for i in own for j in other if b.units.blocks[j].section in became.get(a.units.blocks[i].section, ())
    )
    likely = [(-words, i, j) for (i, j), words in shared.items() if i in own] + [(0, i, j) for i, j in beside]
    partners: dict[int, int] = {}
    for _, i, j in sorted(likely):
        if i in own and j in other:
            partners[j] = i
            own.remove(i)
            other.remove(j)
    return partners


def _change(a: Version, i: int | None, b: Version, j: int | None) -> TableChange:
    before = [] if i is None else table_cells(a.units.blocks[i].text)
    after = [] if j is None else table_cells(b.units.blocks[j].text)
    side, block = (b, b.units.blocks[j]) if j is not None else (a, a.units.blocks[i or 0])
    status: Literal["changed", "added", "removed"] = "removed" if j is None else "added" if i is None else "changed"
    return TableChange(side.called(block.section), status, tuple(_cell_changes(before, after)))


def _cell_changes(before: Sequence[Row], after: Sequence[Row]) -> Iterator[CellChange]:
    columns = list(_matched(_head(before), _head(after)))
    for i, j in _matched([*map(_seen, before)], [*map(_seen, after)]):
        for x, y in columns:
            was, now = _cell(before, i, x), _cell(after, j, y)
            if visible(was) != visible(now):
                row = _cell(after, j, 0) or _cell(before, i, 0) or _numbered("row", i, j)
                column = _cell(after, 0, y) or _cell(before, 0, x) or _numbered("column", x, y)
                yield CellChange(row, column, was, now)


def _seen(row: Row) -> tuple[str, ...]:
    return tuple(map(visible, row))


def _head(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """The first cell of each column."""
    return [
        _seen([cell]) for cell, _ in zip_longest(rows[0] if rows else (), max(rows, key=len, default=()), fillvalue="")
    ]


def _cell(rows: Sequence[Row], row: int | None, column: int | None) -> str:
    known = row is not None and column is not None and row < len(rows) and column < len(rows[row])
    return rows[row or 0][column or 0] if known else ""


def _numbered(name: str, before: int | None, after: int | None) -> str:
    return f"{name} {(after if after is not None else before or 0) + 1}"


def _matched(a: Sequence[tuple[str, ...]], b: Sequence[tuple[str, ...]]) -> Iterator[Places]:
    """The places of rows that belong together, in order; None where one has no counterpart."""
    numbers: dict[tuple[str, ...], int] = {}
    own, other = (np.array([numbers.setdefault(row, len(numbers)) for row in rows], np.int64) for rows in (a, b))
    i = j = 0
    for block in [*align(own, other), Block(len(a), len(b), 0)]:
        yield from _changed(a, range(i, block.i), b, range(j, block.j))
        i, j = block.i + block.length, block.j + block.length
        yield from zip(range(block.i, i), range(block.j, j), strict=True)


def _changed(a: Sequence[tuple[str, ...]], own: range, b: Sequence[tuple[str, ...]], other: range) -> list[Places]:
    """Rows that are not the same: by their first cell, then in order where as many are left of one as of the other."""
    named: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for i in reversed(own):
        named[a[i][:1]].append(i)
    partners = {j: named[b[j][:1]].pop() for j in other if named.get(b[j][:1])}
    left = [sorted(set(own) - set(partners.values())), [j for j in other if j not in partners]]
    if len(left[0]) == len(left[1]):
        partners.update(zip(left[1], left[0], strict=True))
    gone = sorted(set(own) - set(partners.values()))
    return [*((partners.get(j), j) for j in other), *((i, None) for i in gone)]
