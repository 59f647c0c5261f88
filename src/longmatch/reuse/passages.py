"""Seed and extend: exact runs of words that lie in step become one passage, across the words changed between them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from longmatch.reuse.align import Block, align
from longmatch.reuse.words import PER_WORD, Ints, Words, occurrence_ranks, shingles


@dataclass(frozen=True)
class Runs:
    """Runs of the same words: `length` words from a[i] and from b[j], none of which can be longer."""

    i: Ints
    j: Ints
    length: Ints

    def __len__(self) -> int:
        return len(self.i)


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
    for chain in sorted(chains, key=lambda chain: (-chain.length, chain.blocks[0])):  # what a longer one holds is known
        if 2 * chain.length < min(fewest, 4 * SEED) * unit:
            break
        if not any(_holds(shared, chain) for shared in found[:LONGEST]):
            found += _dense(chain.blocks, a.ids, b.ids, fewest * unit)
    return sorted(found, key=lambda shared: (shared.a0, shared.b0))


@dataclass
class _Chain:
    """Exact runs in step, and how many words they hold."""

    blocks: list[Block]
    length: int
    a_end: int = field(init=False)
    b_end: int = field(init=False)

    def __post_init__(self) -> None:
        self._end()

    def _end(self) -> None:
        last = self.blocks[-1]
        self.a_end, self.b_end = last.i + last.length, last.j + last.length

    def distance(self, i: int, j: int) -> int:
        """The words between its end and a run, on the side that has more."""
        return max(i - self.a_end, j - self.b_end)

    def add(self, block: Block) -> None:
        """Go on with a run, without the words of it that it has already."""
        over = max(0, self.a_end - block.i, self.b_end - block.j)
        if block.length > over:
            self.blocks.append(Block(block.i + over, block.j + over, block.length - over))
            self.length += block.length - over
            self._end()


def _chains(runs: Runs, gap: int) -> list[_Chain]:
    """Join runs that lie within `gap` words of each other in both texts, each with the nearest before it.

    Chains are looked up by their shift between the texts, which a gap changes by its own length at most; so every run
    looks at a few chains only.
    """
    chains: list[_Chain] = []
    by_shift: dict[int, _Chain] = {}
    for i, j, length in zip(runs.i.tolist(), runs.j.tolist(), runs.length.tolist(), strict=True):
        place = (i - j) // gap
        nearby = (by_shift.get(place + step) for step in (-1, 0, 1))
        near = [chain for chain in nearby if chain and _continues(chain, i, j, length, gap)]
        if near:
            chain = min(near, key=lambda chain: chain.distance(i, j))
            chain.add(Block(i, j, length))
        else:
            current = by_shift.get(place)
            if current and current.a_end >= i and current.length > length:
                chains.append(_Chain([Block(i, j, length)], length))  # a weaker run beside one that still goes on
                continue
            chain = _Chain([Block(i, j, length)], length)
            chains.append(chain)
        by_shift[(chain.a_end - chain.b_end) // gap] = chain
    return chains


def _continues(chain: _Chain, i: int, j: int, length: int, gap: int) -> bool:
    over = max(chain.a_end - i, chain.b_end - j)
    return over < length and over <= gap and chain.distance(i, j) <= gap and chain.blocks[-1].i <= i


def _extended(blocks: Sequence[Block], a: Ints, b: Ints) -> Shared:
    """The passage from the first exact run to the last, and on at both ends while most words are the same."""
    filled = list(_filled(blocks, a, b))
    first, last = filled[0], filled[-1]
    a1, b1 = last.i + last.length, last.j + last.length
    back = _reach(a[: first.i][::-1], b[: first.j][::-1])
    on = _reach(a[a1:], b[b1:])
    ends_before = [Block(first.i - at - 1, first.j - at - 1, 1) for at in reversed(back)]
    ends_after = [Block(a1 + at, b1 + at, 1) for at in on]
    all_blocks = (*ends_before, *filled, *ends_after)
    first, last = all_blocks[0], all_blocks[-1]
    return Shared(first.i, last.i + last.length, first.j, last.j + last.length, all_blocks)


def _filled(blocks: Sequence[Block], a: Ints, b: Ints) -> Iterator[Block]:
    """The exact runs, and the words between them that are the same."""
    a_end, b_end = blocks[0].i, blocks[0].j
    for block in blocks:
        if block.i > a_end and block.j > b_end:
            inner = align(a[a_end : block.i], b[b_end : block.j])
            yield from (Block(a_end + i, b_end + j, length) for i, j, length in inner)
        yield block
        a_end, b_end = block.i + block.length, block.j + block.length


def _reach(a: Ints, b: Ints) -> list[int]:
    """The words that agree, place by place, up to where changes prevail."""
    same = (a[: 4 * GAP * PER_WORD] == b[: len(a)][: 4 * GAP * PER_WORD]) if len(a) <= len(b) else None
    if same is None:
        return _reach(b, a)
    balance = np.cumsum(np.where(same, 1, -1))
    if not len(balance):
        return []
    falls = np.flatnonzero(np.maximum.accumulate(np.maximum(balance, 0)) - balance >= GIVE_UP)
    balance = balance[: falls[0]] if len(falls) else balance
    if not len(balance) or balance.max() <= 0:
        return []
    end = len(balance) - int(np.argmax(balance[::-1]))
    return [int(at) for at in np.flatnonzero(same[:end])]


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
            cut = _widest_gap(part)
            waiting += [part[:cut], part[cut:]]
    return found


def _widest_gap(blocks: Sequence[Block]) -> int:
    """The number of blocks before the widest gap; of equally wide ones, the gap nearest the middle.

    >>> _widest_gap([Block(0, 0, 5), Block(9, 9, 5), Block(18, 18, 5), Block(27, 27, 5)])
    2
    """
    gaps = [max(y.i - x.i, y.j - x.j) - x.length for x, y in pairwise(blocks)]
    return min(range(len(gaps)), key=lambda n: (-gaps[n], abs(2 * n + 1 - len(gaps)))) + 1


def _holds(shared: Shared, chain: _Chain) -> bool:
    """Whether a chain lies within a passage on both sides."""
    first = chain.blocks[0]
    inside_a = shared.a0 <= first.i and chain.a_end <= shared.a1
    return inside_a and shared.b0 <= first.j and chain.b_end <= shared.b1


def exact_runs(a: Ints, b: Ints, least: int, most: int = MOST) -> Runs:
    """All runs of at least `least` words, sorted by their place in a, then in b.

    Time and memory grow with the texts: a run that stands in b more often than `most` is matched with those places
    that have as many before them as it has in a, so that copies stay in step.

    >>> runs = exact_runs(np.array([1, 2, 3, 4, 9, 5]), np.array([8, 2, 3, 4, 5]), 2)
    >>> list(zip(runs.i.tolist(), runs.j.tolist(), runs.length.tolist()))
    [(1, 1, 3)]
    """
    i, j = _seeds(a, b, least, most)
    if not len(i):
        return Runs(i, i, i)
    order = np.lexsort((i, i - j))
    i, j = i[order], j[order]
    first = np.concatenate([[True], (np.diff(i) != 1) | (np.diff(i - j) != 0)])
    starts = np.flatnonzero(first)
    lengths = np.diff(np.append(starts, len(i))) + least - 1
    i, j = i[starts], j[starts]
    order = np.lexsort((j, i))
    return Runs(i[order], j[order], lengths[order])


def _seeds(a: Ints, b: Ints, least: int, most: int) -> tuple[Ints, Ints]:
    """Where the runs of exactly `least` words stand in both."""
    own, other = shingles(a, least), shingles(b, least)
    order = np.argsort(other, kind="stable")
    ordered = other[order]
    left = np.searchsorted(ordered, own, "left")
    found = np.searchsorted(ordered, own, "right") - left
    taken = np.minimum(found, most)
    ahead = np.clip(occurrence_ranks(own) - most // 2, 0, found - taken)
    i = np.repeat(np.arange(len(own)), taken)
    within = np.arange(len(i)) - np.repeat(np.cumsum(taken) - taken, taken)
    return i, order[np.repeat(left + ahead, taken) + within]
