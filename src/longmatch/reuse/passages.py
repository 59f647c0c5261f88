"""Seed and extend: exact runs of words that lie in step become one passage, across the words changed between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from longmatch.reuse.align import Block, align, runs_in_step
from longmatch.reuse.words import PER_WORD, Ints, Words, occurrence_ranks, shingles

MOST = 8  # places of the other text that a run is looked for in: of a line repeated a thousand times, those in step
SEED, CHARACTER_SEED = 4, 6  # words, or Chinese characters, in a row that a passage begins with
GAP = 24  # words that may lie between two exact runs of a passage
FEWEST = 16  # unchanged words of a passage: fewer are a turn of phrase
UNCHANGED = 0.65  # least share of the words of a passage
LONGEST = 64  # passages in which shorter ones are looked for, so that the work stays in bounds
GIVE_UP = 4  # more changed words than unchanged ones end a passage


@dataclass(frozen=True)
class Shared:
    """Words a0 to a1 of one text and b0 to b1 of another (ends exclusive), of which those of `blocks` are the same."""

    a0: int
    a1: int
    b0: int
    b1: int
    blocks: tuple[Block, ...]

    @property
    def same(self) -> int:
        """The number of words that are the same."""
        return sum(block.length for block in self.blocks)

    @property
    def unchanged(self) -> float:
        """Their share of the longer side."""
        return self.same / max(self.a1 - self.a0, self.b1 - self.b0)


def shared_passages(a: Words, b: Words, fewest: int = FEWEST) -> list[Shared]:
    """The passages of two texts that are the same but for small changes, in the order of the first text.

    Each has at least `fewest` words that are the same (in Chinese twice as many characters). Both texts may hold a
    passage more than once: then it is found with each of its first few places.
    """
    unit = PER_WORD if a.characters and b.characters else 1
    seed = SEED if unit == 1 else CHARACTER_SEED
    chains = _chains(exact_runs(a.ids, b.ids, seed), GAP * unit)
    found: list[Shared] = []
    for chain in sorted(chains, key=lambda chain: (-chain.length, chain.blocks[0])):
        if 2 * chain.length < min(fewest, 4 * SEED) * unit:
            break
        first = chain.blocks[0]
        known = any(
            shared.a0 <= first.i and chain.a_end <= shared.a1 and shared.b0 <= first.j and chain.b_end <= shared.b1
            for shared in found[:LONGEST]
        )
        if not known:
            found += _dense(chain.blocks, a.ids, b.ids, fewest * unit)
    return sorted(found, key=lambda shared: (shared.a0, shared.b0))


class _Chain:
    """Exact runs in step, and how many words they hold."""

    def __init__(self, run: Block) -> None:
        self.blocks: list[Block] = []
        self.length = self.a_end = self.b_end = 0
        self.add(run)

    def add(self, run: Block) -> None:
        """Go on with a run, without the words of it that it has already."""
        over = max(0, self.a_end - run.i, self.b_end - run.j)
        if run.length > over:
            self.blocks.append(Block(run.i + over, run.j + over, run.length - over))
            self.length += run.length - over
            self.a_end, self.b_end = run.i + run.length, run.j + run.length


def _chains(runs: Sequence[Block], gap: int) -> list[_Chain]:
    """Join runs that lie within `gap` words of each other in both texts, each with the nearest before it.

    Chains are looked up by their shift between the texts, which a gap changes by its own length at most; so every run
    looks at a few chains only.
    """
    chains: list[_Chain] = []
    by_shift: dict[int, _Chain] = {}
    for run in runs:
        place = (run.i - run.j) // gap
        chain, nearest = None, gap + 1
        for near in (by_shift.get(place + step) for step in (-1, 0, 1)):
            if near is None or near.blocks[-1].i > run.i:
                continue
            over = max(near.a_end - run.i, near.b_end - run.j)
            distance = max(run.i - near.a_end, run.j - near.b_end)  # on the side that has more words between
            if over < run.length and over <= gap and distance < nearest:
                chain, nearest = near, distance
        if chain is not None:
            chain.add(run)
        else:
            chain = _Chain(run)
            chains.append(chain)
            current = by_shift.get(place)
            if current and current.a_end >= run.i and current.length > run.length:
                continue  # a weaker run beside one that still goes on
        by_shift[(chain.a_end - chain.b_end) // gap] = chain
    return chains


def _dense(blocks: Sequence[Block], a: Ints, b: Ints, fewest: int) -> list[Shared]:
    """The passage of a chain; where too much of it changed, those of its parts before and after the widest gap."""
    found, waiting = [], [list(blocks)]
    while waiting:
        part = waiting.pop()
        shared = _extended(part, a, b)
        if shared.same < fewest:
            continue
        if shared.unchanged >= UNCHANGED:
            found.append(shared)
        elif len(part) > 1:
            gaps = [max(y.i - x.i, y.j - x.j) - x.length for x, y in pairwise(part)]
            middle = len(gaps) - 1
            cut = min(range(len(gaps)), key=lambda n: (-gaps[n], abs(2 * n - middle))) + 1  # of equal ones the middle
            waiting += [part[:cut], part[cut:]]
    return found


def _extended(blocks: Sequence[Block], a: Ints, b: Ints) -> Shared:
    """The passage from the first exact run to the last, with the words between that are the same, and on at both ends
    while most words are.
    """
    filled: list[Block] = []
    first = blocks[0]
    a_end, b_end = first.i, first.j
    for block in blocks:
        if block.i > a_end and block.j > b_end:
            inner = align(a[a_end : block.i], b[b_end : block.j])
            filled += [Block(a_end + i, b_end + j, length) for i, j, length in inner]
        filled.append(block)
        a_end, b_end = block.i + block.length, block.j + block.length
    back = _reach(a[: first.i][::-1], b[: first.j][::-1])
    before = [Block(first.i - at - 1, first.j - at - 1, 1) for at in reversed(back)]
    after = [Block(a_end + at, b_end + at, 1) for at in _reach(a[a_end:], b[b_end:])]
    filled = [*before, *filled, *after]
    first, last = filled[0], filled[-1]
    return Shared(first.i, last.i + last.length, first.j, last.j + last.length, tuple(filled))


def _reach(a: Ints, b: Ints) -> list[int]:
    """The words that agree, place by place, up to where changes prevail."""
    most = min(len(a), len(b), 4 * GAP * PER_WORD)
    same = a[:most] == b[:most]
    balance = np.cumsum(np.where(same, 1, -1))
    falls = np.flatnonzero(np.maximum.accumulate(np.maximum(balance, 0)) - balance >= GIVE_UP)
    balance = balance[: falls[0]] if len(falls) else balance
    if balance.max(initial=0) <= 0:
        return []
    end = len(balance) - int(np.argmax(balance[::-1]))
    places: list[int] = np.flatnonzero(same[:end]).tolist()
    return places


def exact_runs(a: Ints, b: Ints, least: int, most: int = MOST) -> list[Block]:
    """All runs of at least `least` words, none of which can be longer, sorted by their place in a, then in b.

    Time and memory grow with the texts: a run that stands in b more often than `most` is matched with those places
    that have as many before them as it has in a, so that copies stay in step.

    >>> exact_runs(np.array([1, 2, 3, 4, 9, 5]), np.array([8, 2, 3, 4, 5]), 2)
    [Block(i=1, j=1, length=3)]
    """
    own, other = shingles(a, least), shingles(b, least)
    order = np.argsort(other, kind="stable")
    ordered = other[order]
    left = np.searchsorted(ordered, own, "left")
    found = np.searchsorted(ordered, own, "right") - left
    taken = np.minimum(found, most)
    ahead = np.clip(occurrence_ranks(own) - most // 2, 0, found - taken)
    i = np.repeat(np.arange(len(own)), taken)
    within = np.arange(len(i)) - np.repeat(np.cumsum(taken) - taken, taken)
    j = order[np.repeat(left + ahead, taken) + within]
    in_step = np.lexsort((i, i - j))
    return sorted(runs_in_step(i[in_step], j[in_step], least))
