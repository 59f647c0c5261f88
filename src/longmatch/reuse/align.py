"""Two texts aligned in order, word by word, in time that grows with their length.

As in patience diff: runs of words that stand once in both texts are anchors, the heaviest chain of them that crosses
nothing is kept, and what lies between two anchors is aligned in the same way, by shorter runs. Small gaps are aligned
exactly.
"""

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from longmatch.reuse.words import Hashes, Ints, numbered, shingles

ANCHORS = (6, 3, 1)  # words, the most distinctive first
SMALL = 4096  # cells that are aligned exactly
STRONG = 3  # words: fewer that agree amid changes agree by accident


class Block(NamedTuple):
    """`length` words from a[i] and from b[j] that are the same."""

    i: int
    j: int
    length: int


def align(a: Ints, b: Ints) -> list[Block]:
    """The words that stand in both in the same order, as blocks in that order.

    >>> align(np.array([1, 2, 3, 4, 5]), np.array([1, 2, 9, 4, 5]))
    [Block(i=0, j=0, length=2), Block(i=3, j=3, length=2)]
    """
    blocks: list[Block] = []
    gaps = [(0, len(a), 0, len(b))]
    while gaps:
        a0, a1, b0, b1 = gaps.pop()
        head = _agreeing(a[a0:a1], b[b0:b1])
        tail = _agreeing(a[a0 + head : a1][::-1], b[b0 + head : b1][::-1])
        blocks += [Block(a0, b0, head), Block(a1 - tail, b1 - tail, tail)]
        a0, a1, b0, b1 = a0 + head, a1 - tail, b0 + head, b1 - tail
        own, other = a[a0:a1], b[b0:b1]
        if len(own) * len(other) <= SMALL:
            found = _longest_common(own.tolist(), other.tolist())
        elif found := _anchors(own, other):
            around = [Block(0, 0, 0), *found, Block(len(own), len(other), 0)]
            gaps += [(a0 + x.i + x.length, a0 + y.i, b0 + x.j + x.length, b0 + y.j) for x, y in pairwise(around)]
        blocks += [Block(a0 + i, b0 + j, length) for i, j, length in found]
    joined: list[Block] = []  # those that touch made one
    for block in sorted(block for block in blocks if block.length):
        if joined and joined[-1].i + joined[-1].length == block.i and joined[-1].j + joined[-1].length == block.j:
            joined[-1] = joined[-1]._replace(length=joined[-1].length + block.length)
        else:
            joined.append(block)
    return joined


def equal_places(a: Iterable[Hashable], b: Iterable[Hashable]) -> list[tuple[int, int]]:
    """Where the same things stand in two sequences, in the same order: their places in both.

    >>> equal_places("abcd", "axcd")
    [(0, 0), (2, 2), (3, 3)]
    """
    return [(i + n, j + n) for i, j, length in align(*numbered(a, b)) for n in range(length)]


def without_strays(blocks: Sequence[Block], a_words: int, b_words: int, strong: int = STRONG) -> list[Block]:
    """The blocks without those that agree by accident where the text was rewritten.

    A block of fewer than `strong` words stays if most words around it, up to the next strong blocks, are the same too.
    """
    ends = {(0, 0), (a_words, b_words)}
    kept: list[Block] = []
    waiting: list[Block] = []
    before = Block(0, 0, 0)
    for block in [*blocks, Block(a_words, b_words, 0)]:
        i, j, length = block
        if length < strong and not {(i, j), (i + length, j + length)} & ends:
            waiting.append(block)
            continue
        between = max(i - before.i - before.length, j - before.j - before.length)
        if 2 * sum(weak.length for weak in waiting) > between:
            kept += waiting
        kept += [block] if length else []
        waiting, before = [], block
    return kept


def _agreeing(a: Ints, b: Ints) -> int:
    """How many words two sequences begin with alike; most soon differ, so few are compared at first."""
    longest, done, step = min(len(a), len(b)), 0, 8
    while done < longest:
        end = min(done + step, longest)
        differing = np.flatnonzero(a[done:end] != b[done:end])
        if len(differing):
            return done + int(differing[0])
        done, step = end, 8 * step
    return longest


def _longest_common(a: list[int], b: list[int]) -> list[Block]:
    """The longest common subsequence, by the table of all its beginnings."""
    if set(a).isdisjoint(b):
        return []
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) - 1, -1, -1):
        row, below, word = table[i], table[i + 1], a[i]
        for j in range(len(b) - 1, -1, -1):
            row[j] = below[j + 1] + 1 if word == b[j] else max(below[j], row[j + 1])
    blocks, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            blocks.append(Block(i, j, 1))
            i, j = i + 1, j + 1
        elif table[i + 1][j] >= table[i][j + 1]:
            i += 1
        else:
            j += 1
    return blocks


def _anchors(a: Ints, b: Ints) -> list[Block]:
    """The heaviest chain of runs that stand once in both, of the longest kind that there is."""
    for length in ANCHORS:
        (own, i), (other, j) = once(shingles(a, length)), once(shingles(b, length))
        _, x, y = np.intersect1d(own, other, assume_unique=True, return_indices=True)
        if len(x):
            order = np.argsort(i[x])
            return heaviest_chain(runs_in_step(i[x][order], j[y][order], length))
    return []


def once(values: Hashes) -> tuple[Hashes, Ints]:
    """The values that occur once, and where."""
    distinct, index, counts = np.unique(values, return_index=True, return_counts=True)
    return distinct[counts == 1], index[counts == 1]


def runs_in_step(i: Ints, j: Ints, length: int) -> list[Block]:
    """Matching places of runs of `length`, in order, with those that follow each other joined."""
    if not len(i):
        return []
    starts = np.flatnonzero(np.concatenate([[True], (np.diff(i) != 1) | (np.diff(j) != 1)]))
    lengths = np.diff(np.append(starts, len(i))) + length - 1
    return [Block(*block) for block in zip(i[starts].tolist(), j[starts].tolist(), lengths.tolist(), strict=True)]


def heaviest_chain(blocks: Sequence[Block]) -> list[Block]:
    """Of blocks sorted by i, those that also rise in b and hold the most words; overlaps are cut off.

    >>> heaviest_chain([Block(0, 5, 2), Block(3, 0, 4), Block(9, 6, 1)])
    [Block(i=3, j=0, length=4), Block(i=9, j=6, length=1)]
    """
    ends: list[tuple[int, int, int]] = []  # of the best chains so far: place in b, weight, last block; all rise
    before: list[int] = []
    for number, block in enumerate(blocks):
        place = bisect_left(ends, (block.j,))
        _, weight, previous = ends[place - 1] if place else (0, 0, -1)
        weight += block.length
        before.append(previous)
        beaten = place
        while beaten < len(ends) and ends[beaten][1] <= weight:
            beaten += 1
        if beaten > place or place == len(ends) or ends[place][0] > block.j:
            ends[place:beaten] = [(block.j, weight, number)]
    number = ends[-1][2] if ends else -1
    chain: list[Block] = []
    while number >= 0:
        chain.append(blocks[number])
        number = before[number]
    found: list[Block] = []
    a_end = b_end = 0
    for i, j, length in reversed(chain):
        over = max(0, a_end - i, b_end - j)  # words that the one before has already
        if length > over:
            found.append(Block(i + over, j + over, length - over))
            a_end, b_end = i + length, j + length
    return found
