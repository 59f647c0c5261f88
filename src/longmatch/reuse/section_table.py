"""What happened to each section between two versions: a row for each, a chapter that moved as a whole one row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from longmatch.reuse.fates import Fates
from longmatch.reuse.section_groups import Group
from longmatch.reuse.shingles import Ints
from longmatch.reuse.version import Version

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
