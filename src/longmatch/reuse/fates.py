"""What each word of two versions became, once it is known which sections became which.

Words are aligned within sections that belong together. Of these sections, those stay in place that keep their order and
have most words in common; the others have moved, a chapter as a whole. Of the words that are left, those that stand in
both versions have moved by themselves; the rest was added or removed.
"""

from bisect import bisect
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

import numpy as np

from longmatch.reuse.align import STRONG, Block, align, heaviest_chain, once, without_strays
from longmatch.reuse.passages import SEED, shared_passages
from longmatch.reuse.section_matching import Group
from longmatch.reuse.version import Version
from longmatch.reuse.words import PER_WORD, Flags, Ints, Words, shingles

Side = Literal["before", "after"]

FEWEST_MOVED = 8  # words that have moved, unless they are a whole heading or paragraph
MOVED = 0.4  # least likeness of a section that moved: one less alike was replaced


@dataclass(frozen=True)
class MovedChapter:
    """A section that moved and those below it that moved along, and a section that stayed, beside its new place."""

    groups: tuple[Group, ...]
    side: Side
    neighbour: int  # of the first version


@dataclass(frozen=True)
class Fates:
    """Where each word is in the other version (or -1), and the number of the move it is part of (or 0)."""

    a_partner: Ints
    b_partner: Ints
    a_move: Ints
    b_move: Ints
    b_altered: Flags  # the same word, in other case or with other signs
    blocks: tuple[Block, ...]  # what stayed in place, between blocks without words where sections begin and end
    groups: tuple[Group, ...]
    chapters: tuple[MovedChapter, ...]  # the first one's move has the number 1

    @staticmethod
    def of(a: Version, b: Version, groups: Sequence[Group]) -> "Fates":
        """From the sections that belong together, in the order of the first version."""
        aligned = {group: _aligned(a, b, group) for group in groups}
        # those groups stay that keep their order and have most words in common
        starts = [
            Block(a.run(*group.a_run).start, b.run(*group.b_run).start, max(1, sum(block.length for block in blocks)))
            for group, blocks in aligned.items()
        ]
        chain = {(block.i, block.j) for block in heaviest_chain(starts)}
        staying = {group for group, (i, j, _) in zip(groups, starts, strict=True) if (i, j) in chain}
        kept = [group for group in groups if group in staying or group.likeness >= MOVED]
        in_place: list[Block] = []
        for group in kept:
            if group in staying:
                own, other = a.run(*group.a_run), b.run(*group.b_run)
                in_place += [Block(own.start, other.start, 0), *aligned[group], Block(own.stop, other.stop, 0)]
        chapters = moved_chapters(b, kept, staying)
        moves = [[block for group in chapter.groups for block in aligned[group]] for chapter in chapters]
        a_partner, b_partner = np.full(len(a.units), -1), np.full(len(b.units), -1)
        for blocks in (in_place, *moves):
            _pair(a_partner, b_partner, blocks)
        moves += _moves(a, b, a_partner, b_partner)
        a_move, b_move = np.zeros(len(a.units), dtype=np.int64), np.zeros(len(b.units), dtype=np.int64)
        for number, blocks in enumerate(moves, 1):
            _pair(a_partner, b_partner, blocks)
            for i, j, length in blocks:
                a_move[i : i + length] = b_move[j : j + length] = number
        altered = np.zeros(len(b.units), dtype=bool)
        paired = np.flatnonzero(b_partner >= 0)
        altered[paired] = ~a.words.agree(b_partner[paired], b.words, paired)
        a_move[b_partner[altered]] = b_move[altered] = 0  # shown as what they are: removed there, added here
        return Fates(a_partner, b_partner, a_move, b_move, altered, tuple(in_place), tuple(kept), tuple(chapters))


def _aligned(a: Version, b: Version, group: Group) -> list[Block]:
    """The words that are the same in the sections of a group, in order: first those of the heading, then the others."""
    strong = STRONG * (PER_WORD if a.words.characters and b.words.characters else 1)
    own, other = a.run(*group.a_run), b.run(*group.b_run)
    a_body, b_body = a.body_start(group.a_run[0]), b.body_start(group.b_run[0])
    found: list[Block] = []
    for a0, a1, b0, b1 in ((own.start, a_body, other.start, b_body), (a_body, own.stop, b_body, other.stop)):
        same = without_strays(align(a.words.ids[a0:a1], b.words.ids[b0:b1]), a1 - a0, b1 - b0, strong)
        found += [Block(a0 + i, b0 + j, length) for i, j, length in same]
    return found


def _pair(a_partner: Ints, b_partner: Ints, blocks: Iterable[Block]) -> None:
    for i, j, length in blocks:
        a_partner[i : i + length] = np.arange(j, j + length)
        b_partner[j : j + length] = np.arange(i, i + length)


def _moves(a: Version, b: Version, a_partner: Ints, b_partner: Ints) -> list[list[Block]]:
    """The passages, headings and paragraphs that stand in both but not in order, in the order of the first version."""
    a_free, b_free = a_partner < 0, b_partner < 0
    own = np.where(a_free, a.words.ids, -1 - np.arange(len(a_free)))
    other = np.where(b_free, b.words.ids, -1 - len(a_free) - np.arange(len(b_free)))  # what is paired matches nothing
    own_words, other_words = (Words(ids, ids[:, None], ids, ids, False) for ids in (own, other))  # nobody reads places
    passages = shared_passages(own_words, other_words, FEWEST_MOVED)
    # a turn of phrase that both versions repeat has not moved: most of its words are in runs that stand once in each
    (own_seeds, places), (other_seeds, _) = once(shingles(a.words.ids, SEED)), once(shingles(b.words.ids, SEED))
    seeds = places[np.isin(own_seeds, other_seeds)]
    single = np.zeros(len(a_free), dtype=bool)
    single[(seeds[:, None] + np.arange(SEED)).ravel()] = True
    unique = [p for p in passages if 2 * sum(single[i : i + n].sum() for i, _, n in p.blocks) >= p.same]
    found = [list(passage.blocks) for passage in sorted(unique, key=lambda passage: -passage.same)]
    # headings and paragraphs of which nothing is paired, that stand once in both
    own_blocks, other_blocks = _unpaired_blocks(a, a_free), _unpaired_blocks(b, b_free)
    for words, starts in own_blocks.items():
        if len(starts) == 1 == len(other_blocks.get(words, ())):
            found.append([Block(starts[0], other_blocks[words][0], len(words))])
    moves = []
    for blocks in found:
        if all(a_free[i : i + n].all() and b_free[j : j + n].all() for i, j, n in blocks):
            moves.append(blocks)
            for i, j, n in blocks:
                a_free[i : i + n] = b_free[j : j + n] = False
    return sorted(moves)


def _unpaired_blocks(version: Version, free: Flags) -> dict[tuple[int, ...], list[int]]:
    """Where each of them begins, by its words."""
    found: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for _, run in groupby(range(len(free)), key=lambda place: version.units[place].block):
        places = list(run)
        if free[places].all():
            found[tuple(version.words.ids[places].tolist())].append(places[0])
    return found


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
    found = []
    for moved in chapters:
        # it now stands before or after a section that stayed: one that it passed, unless that is a level higher
        at, level = bisect(stays, moved[0].b_run, key=lambda group: group.b_run), _level(b, moved[0])
        earlier, later = stays[:at][::-1], stays[at:]
        preceding = [group for group in earlier if _level(b, group) <= level] or earlier
        choices: list[tuple[Side, Group]] = [("before", group) for group in later[:1]]
        choices += [("after", group) for group in preceding[:1]]
        if not later or later[0].a_run > moved[0].a_run:
            choices.reverse()
        side, neighbour = next((choice for choice in choices if _level(b, choice[1]) >= level), choices[0])
        found.append(MovedChapter(tuple(moved), side, neighbour.a_run[0]))
    return found


def _level(version: Version, group: Group) -> int:
    return version.levels[group.b_run[0]]
