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
from longmatch.reuse.align import equal_places
from longmatch.reuse.fates import Fates, MovedChapter
from longmatch.reuse.reuse import stated_title
from longmatch.reuse.section_matching import Group, joined_groups, matched_groups
from longmatch.reuse.version import Version
from longmatch.reuse.weaving import RevisedBlock, woven
from longmatch.reuse.words import Ints, Vocabulary, visible

Status = Literal["unchanged", "renumbered", "changed", "renamed", "moved", "split", "merged", "added", "removed"]
Count = Literal["same", "added", "removed", "moved"]
COUNTS: tuple[Count, ...] = ("same", "added", "removed", "moved")
Row = list[str]


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
    sections, tables = _section_table(first, second, fates), _table_changes(first, second, fates)
    titles = (a.title, b.title) if stated_title(a, b) != stated_title(b, a) else None
    return Revision(woven(first, second, fates), sections, tables, titles)


def _section_table(a: Version, b: Version, fates: Fates) -> tuple[SectionChange, ...]:
    """The sections of the second version in its order, and those that were removed after the one they followed."""
    became = {i: group for group in fates.groups for i in group.a}
    came_from = {j: group for group in fates.groups for j in group.b}
    chapters = {group: chapter for chapter in fates.chapters for group in chapter.groups}
    a_removed = fates.a_partner < 0
    a_removed[fates.b_partner[fates.b_altered]] = True
    b_added = (fates.b_partner < 0) | fates.b_altered
    b_moved = (fates.b_move > 0) & ~b_added
    kept, new, came = (
        np.bincount(b.home[words], minlength=len(b.headings)).tolist()
        for words in (~b_added & ~b_moved, b_added, b_moved)
    )
    gone = np.bincount(a.home[a_removed], minlength=len(a.headings)).tolist()
    removed: Counter[int] = Counter()
    for i, group in became.items():
        removed[group.b_run[0]] += gone[i]
    # any change below the heading, other than that the section moved
    changed_a = ~a.in_heading & (a_removed | (fates.a_move != _moves(a, became, fates)))
    changed_b = ~b.in_heading & (b_added | (fates.b_move != _moves(b, came_from, fates)))
    edited = set(b.home[changed_b].tolist())
    edited |= {became[i].b_run[0] for i in set(a.home[changed_a].tolist()) if i in became}

    rows: dict[tuple[int, int], SectionChange] = {}  # by section of b, then by section of a that was removed after it
    for j in b.worded:
        counts = kept[j], new[j], removed[j], came[j]
        row = SectionChange(*b.name(j), b.places[j], "added", *counts, edited=j in edited)
        place = j, -1
        if partner := came_from.get(j):
            chapter = chapters.get(partner)
            row = _changed_row(row, a, b, partner, chapter)
            if chapter and partner != chapter.groups[0] and row.status in ("unchanged", "renumbered"):
                place = chapter.groups[0].b_run[0], -1  # it moved along: its words count as the chapter's
                above = rows[place]
                sums = {name: getattr(above, name) + getattr(row, name) for name in COUNTS}
                row = replace(above, **sums, subsections=above.subsections + 1)
        rows[place] = row
    last = -1
    for i in a.worded:
        if i not in became:
            rows[last, i] = SectionChange(*a.name(i), a.places[i], "removed", removed=gone[i], edited=True)
        elif became[i] not in chapters:
            last = became[i].b_run[1]
    return tuple(rows[place] for place in sorted(rows))


def _changed_row(
    row: SectionChange, a: Version, b: Version, group: Group, chapter: MovedChapter | None
) -> SectionChange:
    """The row of a section of b that stood in a."""
    if len(group.a) > 1 or len(group.b) > 1:
        status: Status = "merged" if len(group.a) > 1 else "split"
        return replace(row, status=status, was=tuple(map(a.called, group.a)))
    (i,), (j,) = group.a, group.b
    was = (a.headings[i],) if a.headings[i] not in ("", b.headings[j]) else ()
    if chapter and group == chapter.groups[0]:
        beside = a.called(chapter.neighbour)
        before, after = (beside, "") if chapter.side == "before" else ("", beside)
        return replace(row, status="moved", was=was, before=before, after=after)
    if was and a.titles[i] != b.titles[j]:
        status = "renamed"
    elif row.edited:
        status = "changed"
    elif was:
        status = "renumbered"
    else:
        status = "changed" if a.headings[i] != b.headings[j] else "unchanged"
    return replace(row, status=status, was=was)


def _moves(version: Version, groups: Mapping[int, Group], fates: Fates) -> Ints:
    """For each word the number of the move that its section is part of, or 0."""
    numbers = {group: n for n, chapter in enumerate(fates.chapters, 1) for group in chapter.groups}
    own = [numbers.get(groups[n], 0) if n in groups else 0 for n in range(len(version.headings))]
    return np.array(own, dtype=np.int64)[version.home]


def _table_changes(a: Version, b: Version, fates: Fates) -> tuple[TableChange, ...]:
    """The tables that differ, in the order of the second version; those that are gone last."""
    own, other = (
        {number: block for number, block in enumerate(version.blocks) if block.kind == "table"} for version in (a, b)
    )
    partners = _partners(a, b, fates, set(own), set(other))
    known = set(partners.values())
    found = []
    for j, table in other.items():
        i = partners.get(j)
        cells = _cell_changes(table_cells(own[i].text) if i is not None else [], table_cells(table.text))
        found.append(TableChange(b.called(table.section), "added" if i is None else "changed", tuple(cells)))
    for i, table in own.items():
        if i not in known:
            cells = _cell_changes(table_cells(table.text), [])
            found.append(TableChange(a.called(table.section), "removed", tuple(cells)))
    return tuple(change for change in found if change.cells)


def _partners(a: Version, b: Version, fates: Fates, own: set[int], other: set[int]) -> dict[int, int]:
    """The table of a that each table of b was: the one it shares most words with, else the next of the same section."""
    shared = Counter((a.units[i].block, b.units[j].block) for j, i in enumerate(fates.b_partner.tolist()) if i >= 0)
    became = {i: group.b for group in fates.groups for i in group.a}
    likely = [(-words, i, j) for (i, j), words in shared.items()]
    likely += [(0, i, j) for i in own for j in other if b.blocks[j].section in became.get(a.blocks[i].section, ())]
    partners: dict[int, int] = {}
    for _, i, j in sorted(likely):
        if i in own and j in other:
            partners[j] = i
            own.remove(i)
            other.remove(j)
    return partners


def _cell_changes(before: Sequence[Row], after: Sequence[Row]) -> Iterator[CellChange]:
    """The cells that differ: rows and columns are matched in order."""

    def cell(rows: Sequence[Row], row: int | None, column: int | None) -> str:
        known = row is not None and column is not None and row < len(rows) and column < len(rows[row])
        return rows[row or 0][column or 0] if known else ""

    def numbered(name: str, place: int | None, earlier: int | None) -> str:
        return f"{name} {(place if place is not None else earlier or 0) + 1}"

    columns = list(_matched(_first_row(before), _first_row(after)))
    own, other = ([tuple(map(visible, row)) for row in rows] for rows in (before, after))
    for i, j in _matched(own, other):
        for x, y in columns:
            was, now = cell(before, i, x), cell(after, j, y)
            if visible(was) != visible(now):
                row = cell(after, j, 0) or cell(before, i, 0) or numbered("row", j, i)
                column = cell(after, 0, y) or cell(before, 0, x) or numbered("column", y, x)
                yield CellChange(row, column, was, now)


def _first_row(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """The first cell of each column, as visible; longer rows below have columns without one."""
    first, longest = (rows[0], max(rows, key=len)) if rows else ([], [])
    return [(visible(cell),) for cell, _ in zip_longest(first, longest, fillvalue="")]


def _matched(a: Sequence[tuple[str, ...]], b: Sequence[tuple[str, ...]]) -> Iterator[tuple[int | None, int | None]]:
    """The places of rows that belong together, in order; None where one has no counterpart."""
    i = j = 0
    for x, y in [*equal_places(a, b), (len(a), len(b))]:
        # rows between that are not the same: by their first cell, then in order where as many of both are left
        own, other = range(i, x), range(j, y)
        named: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for place in reversed(own):
            named[a[place][:1]].append(place)
        partners = {place: named[b[place][:1]].pop() for place in other if named.get(b[place][:1])}
        left = [place for place in own if place not in partners.values()]
        new = [place for place in other if place not in partners]
        if len(left) == len(new):
            partners.update(zip(new, left, strict=True))
            left = []
        yield from ((partners.get(place), place) for place in other)
        yield from ((place, None) for place in left)
        if x < len(a):
            yield x, y
        i, j = x + 1, y + 1
