"""How two versions of a text differ, section by section and word by word: added, removed, moved.

What changed in the tables of two versions, cell by cell: the row, the column, and what stood there before and after.

Rows are matched in order where they are the same, then by their first cell, columns by the cells of the first row.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Literal

import numpy as np

from longmatch.documents.document import Document
from longmatch.documents.paragraph_kinds import table_cells
from longmatch.reuse.align import Block, align
from longmatch.reuse.fates import Fates
from longmatch.reuse.reuse import stated_title
from longmatch.reuse.section_matching import Group, joined_groups, matched_groups
from longmatch.reuse.version import TextUnits, Version
from longmatch.reuse.weaving import RevisedBlock, woven
from longmatch.reuse.words import Ints, Vocabulary, visible

Status = Literal["unchanged", "renumbered", "changed", "renamed", "moved", "split", "merged", "added", "removed"]


Count = Literal["same", "added", "removed", "moved"]


COUNTS: tuple[Count, ...] = ("same", "added", "removed", "moved")


@dataclass(frozen=True)
class SectionChange:
    """What happened to a section, in words."""

    heading: str
    opening: str  # its first words
    start: int  # in the second version's text, of a removed section in the first one's
    status: Status
    same: int = 0
    added: int = 0
    removed: int = 0
    moved: int = 0
    edited: bool = False  # whether the text below the heading changed
    was: tuple[str, ...] = ()  # the headings in the first version, where they are others; of merged sections, all
    before: str = ""  # the section of the first version that a moved one now stands before
    after: str = ""  # or after
    subsections: int = 0  # that moved along, and have no rows


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


Row = list[str]
Places = tuple[int | None, int | None]


@dataclass(frozen=True)
class Revision:
    """The second of two versions, with what was removed from the first."""

    blocks: tuple[RevisedBlock, ...]
    sections: tuple[SectionChange, ...]  # of the second version, with the removed ones where they stood
    tables: tuple[TableChange, ...] = ()
    titles: tuple[str, str] | None = None  # where they differ and stand beside the text

    def words(self, name: Count) -> int:
        """The number of words that are the same, were added, removed or moved."""
        return sum(getattr(section, name) for section in self.sections)


def revise(a: Document, b: Document) -> Revision:
    """How b, the later version, differs from a."""
    vocabulary = Vocabulary()
    first, second = Version.of(a, vocabulary), Version.of(b, vocabulary)
    groups = matched_groups(first, second)
    fates = Fates.of(first, second, groups)
    joined = joined_groups(first, second, fates.groups, fates.a_partner)
    if joined != groups:
        fates = Fates.of(first, second, joined)
    sections, tables = section_table(first, second, fates), table_changes(first, second, fates)
    titles = (a.title, b.title) if stated_title(a, b) != stated_title(b, a) else None
    return Revision(woven(first.units, second.units, fates), sections, tables, titles)


def section_table(a: Version, b: Version, fates: Fates) -> tuple[SectionChange, ...]:
    """The sections of the second version in its order, and those that were removed after the one they followed."""
    table = _Table(a, b, fates)
    rows: dict[tuple[int, int], SectionChange] = {}  # by section of b, then by section of a that was removed after it
    for j in b.worded:
        row, chapter = table.row(j), table.chapter(j)
        if chapter is not None and row.status in ("unchanged", "renumbered"):
            rows[chapter, -1] = _with_subsection(rows[chapter, -1], row)
        else:
            rows[j, -1] = row
    last = -1
    for i in a.worded:
        group = table.became.get(i)
        if group is None:
            rows[last, i] = table.removed_row(i)
        elif group not in table.chapters:
            last = group.b_run[1]
    return tuple(rows[place] for place in sorted(rows))


class _Table:
    """What is known of each section."""

    def __init__(self, a: Version, b: Version, fates: Fates) -> None:
        self.a, self.b, self.fates = a, b, fates
        self.became = {i: group for group in fates.groups for i in group.a}
        self.came_from = {j: group for group in fates.groups for j in group.b}
        self.chapters = {group: chapter for chapter in fates.chapters for group in chapter.groups}
        self.a_removed = fates.a_partner < 0
        self.a_removed[fates.b_partner[fates.b_altered]] = True
        self.b_added = (fates.b_partner < 0) | fates.b_altered
        self.counts, self.gone = self._counts()
        self.edited = self._edited()

    def row(self, j: int) -> SectionChange:
        """What happened to a section of b."""
        row = SectionChange(*self.b.name(j), self.b.places[j], "added", *self.counts[j], edited=j in self.edited)
        group = self.came_from.get(j)
        if group is None:
            return row
        if len(group.a) > 1 or len(group.b) > 1:
            status: Status = "merged" if len(group.a) > 1 else "split"
            return replace(row, status=status, was=tuple(map(self.a.called, group.a)))
        (i,) = group.a
        was = (self.a.headings[i],) if self.a.headings[i] not in ("", self.b.headings[j]) else ()
        row = replace(row, status=self._status(i, j, was), was=was)
        chapter = self.chapters.get(group)
        if chapter is None or group != chapter.groups[0]:
            return row
        beside = self.a.called(chapter.neighbour)
        before, after = (beside, "") if chapter.side == "before" else ("", beside)
        return replace(row, status="moved", before=before, after=after)

    def _status(self, i: int, j: int, was: Sequence[str]) -> Status:
        if was and self.a.titles[i] != self.b.titles[j]:
            return "renamed"
        heading_changed = self.a.headings[i] != self.b.headings[j]
        return "changed" if j in self.edited else "renumbered" if was else "changed" if heading_changed else "unchanged"

    def chapter(self, j: int) -> int | None:
        """The section that a section of b moved below."""
        group = self.came_from.get(j)
        chapter = self.chapters.get(group) if group else None
        return None if chapter is None or group == chapter.groups[0] else chapter.groups[0].b_run[0]

    def removed_row(self, i: int) -> SectionChange:
        """A section of a that is gone."""
        return SectionChange(*self.a.name(i), self.a.places[i], "removed", removed=self.gone[i], edited=True)

    def _counts(self) -> tuple[list[tuple[int, int, int, int]], list[int]]:
        """The words of each section of b by what became of them, and those removed from each section of a."""
        moved = (self.fates.b_move > 0) & ~self.b_added
        same = ~self.b_added & ~moved
        sections = len(self.b.headings)
        gone = np.bincount(self.a.home[self.a_removed], minlength=len(self.a.headings)).tolist()
        removed = [0] * sections
        for i, group in self.became.items():
            removed[group.b_run[0]] += gone[i]
        kept, new, came = (
            np.bincount(self.b.home[kind], minlength=sections).tolist() for kind in (same, self.b_added, moved)
        )
        return list(zip(kept, new, removed, came, strict=True)), gone

    def _edited(self) -> set[int]:
        """The sections of b with any change below their heading, other than that they moved."""
        other_a = self.a_removed | (self.fates.a_move != self._moves(self.a, self.became))
        other_b = self.b_added | (self.fates.b_move != self._moves(self.b, self.came_from))
        left = set(self.a.home[other_a & ~self.a.in_heading].tolist())
        came = set(self.b.home[other_b & ~self.b.in_heading].tolist())
        return came | {self.became[i].b_run[0] for i in left if i in self.became}

    def _moves(self, version: Version, groups: Mapping[int, Group]) -> Ints:
        """For each word the number of the move that its section is part of, or 0."""
        numbers = {group: n for n, chapter in enumerate(self.fates.chapters, 1) for group in chapter.groups}
        own = [numbers.get(groups[n], 0) if n in groups else 0 for n in range(len(version.headings))]
        return np.array(own, dtype=np.int64)[version.home]


def _with_subsection(chapter: SectionChange, row: SectionChange) -> SectionChange:
    """The row of a chapter with the words of a section that moved along."""
    return replace(
        chapter,
        same=chapter.same + row.same,
        added=chapter.added + row.added,
        removed=chapter.removed + row.removed,
        moved=chapter.moved + row.moved,
        subsections=chapter.subsections + 1,
    )


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
