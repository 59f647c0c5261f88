"""Sections that moved, each with the subsections that moved along: a chapter moves as one."""

from bisect import bisect
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from longmatch.reuse.section_groups import Group
from longmatch.reuse.version import Version

Side = Literal["before", "after"]


@dataclass(frozen=True)
class MovedChapter:
    """A section that moved and those below it that moved along, and a section that stayed, beside its new place."""

    groups: tuple[Group, ...]
    side: Side
    neighbour: int  # of the first version


def moved_chapters(b: Version, groups: Sequence[Group], staying: Collection[Group]) -> list[MovedChapter]:
    """The groups that do not stay, in the order of the second version, each under the highest that moved with it."""
    place = {group: number for number, group in enumerate(groups)}  # in the first version
    ordered = sorted(groups, key=lambda group: group.b_run)
    chapters: list[list[Group]] = []
    before: Group | None = None
    for group in ordered:
        if group not in staying:
            follows = before is not None and before not in staying and place[group] == place[before] + 1
            if follows and _level(b, group) > _level(b, chapters[-1][0]):
                chapters[-1].append(group)
            else:
                chapters.append([group])
        before = group
    stays = [group for group in ordered if group in staying]
    return [MovedChapter(tuple(chapter), *_beside(b, chapter[0], stays)) for chapter in chapters]


def _beside(b: Version, moved: Group, stays: Sequence[Group]) -> tuple[Side, int]:
    """Which section that stayed it now stands before or after: one that it passed, unless that is a level higher."""
    at, level = bisect(stays, moved.b_run, key=lambda group: group.b_run), _level(b, moved)
    following = next(iter(stays[at:]), None)
    earlier = stays[:at][::-1]
    preceding = next((group for group in earlier if _level(b, group) <= level), next(iter(earlier), None))
    choices: list[tuple[Side, Group | None]] = [("before", following), ("after", preceding)]
    if following is None or following.a_run > moved.a_run:
        choices.reverse()
    known = [(side, group) for side, group in choices if group is not None]
    side, neighbour = next((choice for choice in known if _level(b, choice[1]) >= level), known[0])
    return side, neighbour.a_run[0]


def _level(version: Version, group: Group) -> int:
    return version.levels[group.b_run[0]]
