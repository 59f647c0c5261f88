"""What each word of two versions became, once it is known which sections became which.

Words are aligned within sections that belong together. Of these sections, those stay in place that keep their order and
have most words in common; the others have moved, a chapter as a whole. Of the words that are left, those that stand in
both versions have moved by themselves; the rest was added or removed.
"""

from bisect import bisect
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from longmatch.reuse.align import STRONG, Block, align, heaviest_chain, once, without_strays
from longmatch.reuse.passages import SEED, shared_passages
from longmatch.reuse.section_matching import Group
from longmatch.reuse.version import TextUnits, Version
from longmatch.reuse.words import PER_WORD, Flags, Ints, Words, shingles

Side = Literal["before", "after"]


@dataclass(frozen=True)
class MovedChapter:
    """A section that moved and those below it that moved along, and a section that stayed, beside its new place."""

    groups: tuple[Group, ...]
    side: Side
    neighbour: int  # of the first version


FEWEST_MOVED = 8  # words that have moved, unless they are a whole heading or paragraph
MOVED = 0.4  # least likeness of a section that moved: one less alike was replaced


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
        strong = STRONG * (PER_WORD if a.units.characters and b.units.characters else 1)
        aligned = [_aligned(a, b, group, strong) for group in groups]
        staying = _staying(a, b, groups, aligned)
        words = dict(zip(groups, aligned, strict=True))
        kept = [group for group in groups if group in staying or group.likeness >= MOVED]
        chapters = moved_chapters(b, kept, staying)
        in_place = [block for group in kept if group in staying for block in _with_ends(a, b, group, words[group])]
        moves = [[block for group in chapter.groups for block in words[group]] for chapter in chapters]
        a_partner, b_partner = np.full(len(a.home), -1), np.full(len(b.home), -1)
        for blocks in (in_place, *moves):
            _pair(a_partner, b_partner, blocks)
        moves += _moves(a.units, b.units, a_partner, b_partner)
        a_move, b_move = np.zeros(len(a.home), dtype=np.int64), np.zeros(len(b.home), dtype=np.int64)
        for number, blocks in enumerate(moves, 1):
            _pair(a_partner, b_partner, blocks)
            for i, j, length in blocks:
                a_move[i : i + length] = b_move[j : j + length] = number
        altered = _altered(a.units, b.units, b_partner)
        a_move[b_partner[altered]] = b_move[altered] = 0  # shown as what they are: removed there, added here
        return Fates(a_partner, b_partner, a_move, b_move, altered, tuple(in_place), tuple(kept), tuple(chapters))


def _aligned(a: Version, b: Version, group: Group, strong: int) -> list[Block]:
    """The words that are the same in the sections of a group, in order: first those of the heading, then the others."""
    own, other = a.run(*group.a_run), b.run(*group.b_run)
    a_body, b_body = own.start + a.heading_words(group.a_run[0]), other.start + b.heading_words(group.b_run[0])
    heading = _same(a, b, range(own.start, a_body), range(other.start, b_body), strong)
    return heading + _same(a, b, range(a_body, own.stop), range(b_body, other.stop), strong)


def _same(a: Version, b: Version, own: range, other: range, strong: int) -> list[Block]:
    ids, others = a.units.ids[own.start : own.stop], b.units.ids[other.start : other.stop]
    found = without_strays(align(ids, others), len(ids), len(others), strong)
    return [Block(own.start + i, other.start + j, length) for i, j, length in found]


def _staying(a: Version, b: Version, groups: Sequence[Group], aligned: Sequence[Sequence[Block]]) -> set[Group]:
    """The groups that keep their order and have most words in common."""
    weights = [max(1, sum(block.length for block in blocks)) for blocks in aligned]
    starts = [Block(a.run(*g.a_run).start, b.run(*g.b_run).start, w) for g, w in zip(groups, weights, strict=True)]
    chain = {(block.i, block.j) for block in heaviest_chain(starts)}
    return {group for group, (i, j, _) in zip(groups, starts, strict=True) if (i, j) in chain}


def _with_ends(a: Version, b: Version, group: Group, blocks: Sequence[Block]) -> Iterable[Block]:
    own, other = a.run(*group.a_run), b.run(*group.b_run)
    return [Block(own.start, other.start, 0), *blocks, Block(own.stop, other.stop, 0)]


def _altered(a: TextUnits, b: TextUnits, b_partner: Ints) -> Flags:
    altered = np.zeros(len(b_partner), dtype=bool)
    paired = np.flatnonzero(b_partner >= 0)
    altered[paired] = ~a.words.agree(b_partner[paired], b.words, paired)
    return altered


def _pair(a_partner: Ints, b_partner: Ints, blocks: Iterable[Block]) -> None:
    for i, j, length in blocks:
        a_partner[i : i + length] = np.arange(j, j + length)
        b_partner[j : j + length] = np.arange(i, i + length)


def _moves(a: TextUnits, b: TextUnits, a_partner: Ints, b_partner: Ints) -> list[list[Block]]:
    """The passages, headings and paragraphs that stand in both but not in order, in the order of the first version."""
    own = np.where(a_partner < 0, a.ids, -1 - np.arange(len(a.ids)))
    other = np.where(b_partner < 0, b.ids, -1 - len(a.ids) - np.arange(len(b.ids)))  # what is paired matches nothing
    passages = shared_passages(_as_words(own), _as_words(other), FEWEST_MOVED)
    single = _standing_once(a.ids, b.ids)
    unique = [p for p in passages if 2 * sum(single[i : i + n].sum() for i, _, n in p.blocks) >= p.same]
    found = [list(passage.blocks) for passage in sorted(unique, key=lambda passage: -passage.same)]
    a_free, b_free = a_partner < 0, b_partner < 0
    moves = []
    for blocks in [*found, *_whole_blocks(a, b, a_free, b_free)]:
        if all(a_free[i : i + n].all() and b_free[j : j + n].all() for i, j, n in blocks):
            moves.append(blocks)
            for i, j, n in blocks:
                a_free[i : i + n] = b_free[j : j + n] = False
    return sorted(moves)


def _standing_once(a: Ints, b: Ints) -> Flags:
    """The words of a in runs that stand once in each version: a turn of phrase that both repeat has not moved."""
    (own, places), (other, _) = once(shingles(a, SEED)), once(shingles(b, SEED))
    starts = places[np.isin(own, other)]
    single = np.zeros(len(a), dtype=bool)
    single[(starts[:, None] + np.arange(SEED)).ravel()] = True
    return single


def _as_words(ids: Ints) -> Words:
    places = np.arange(len(ids))
    return Words(ids, ids[:, None], places, places, False)


def _whole_blocks(a: TextUnits, b: TextUnits, a_free: Flags, b_free: Flags) -> list[list[Block]]:
    """Headings and paragraphs of which nothing is paired, that stand once in both."""
    own, other = _unpaired_blocks(a, a_free), _unpaired_blocks(b, b_free)
    both = [words for words, places in own.items() if len(places) == 1 == len(other.get(words, ()))]
    return [[Block(own[words][0], other[words][0], len(words))] for words in both]


def _unpaired_blocks(text: TextUnits, free: Flags) -> dict[tuple[int, ...], list[int]]:
    found: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for start, end in pairwise([*_block_starts(text), len(text.units)]):
        if free[start:end].all():
            found[tuple(text.ids[start:end].tolist())].append(start)
    return found


def _block_starts(text: TextUnits) -> list[int]:
    return [n for n, unit in enumerate(text.units) if n == 0 or unit.block != text.units[n - 1].block]


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
