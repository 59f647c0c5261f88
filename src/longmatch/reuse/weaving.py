"""Two versions laid out as one text: the second, with what was removed from the first where it stood."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Literal, NamedTuple

from longmatch.reuse.align import Block
from longmatch.reuse.fates import Fates
from longmatch.reuse.version import Unit, Version

Change = Literal["same", "added", "removed", "moved away", "moved here"]


class Piece(NamedTuple):
    """A stretch of text that shares one fate; both ends of a move have its number."""

    change: Change
    text: str
    move: int = 0


@dataclass
class RevisedBlock:
    """A heading or paragraph of either version, with what changed in it."""

    kind: str
    level: int
    pieces: list[Piece] = field(default_factory=list)

    @property
    def change(self) -> Change | None:
        """What all of it shares; None where its pieces differ."""
        changes = {piece.change for piece in self.pieces} or {"same"}
        return changes.pop() if len(changes) == 1 else None

    @property
    def move(self) -> int:
        """The number of the move that it begins in, or 0."""
        return self.pieces[0].move if self.pieces else 0

    @property
    def unchanged(self) -> bool:
        """Whether nothing in it changed."""
        return self.change == "same"


def woven(a: Version, b: Version, fates: Fates) -> tuple[RevisedBlock, ...]:
    """The blocks of both versions in one order: the gaps between the words that are the same, and these."""
    weaver = _Weaver(a, b, fates)
    a_end = b_end = 0
    for i, j, length in [*fates.blocks, Block(len(a.units), len(b.units), 0)]:
        weaver.gap(range(a_end, i), range(b_end, j))
        a_end, b_end = i + length, j + length
        for own, other in zip(range(i, a_end), range(j, b_end), strict=True):
            weaver.enter(b.units[other].block)
            if fates.b_altered[other]:
                weaver.put(a.units[own], "removed")
                weaver.put(b.units[other], "added")
            else:
                weaver.put(b.units[other], "same")
    return tuple(replace(block, pieces=_merged(block.pieces)) for block in weaver.woven)


class _Weaver:
    """Lays the second version out block by block, and what was removed where it stood."""

    def __init__(self, a: Version, b: Version, fates: Fates) -> None:
        self.a, self.b, self.fates = a, b, fates
        self.woven: list[RevisedBlock] = []
        self.current = -1  # block of b that the last woven one is

    def gap(self, removed: range, added: range) -> None:
        """What was removed goes with the paragraph it was part of, or makes one of its own; so does what was added."""
        b_before, b_after = _home(self.b, added.start - 1), _home(self.b, added.stop)
        tail, apart, head = _by_home(self.a, removed)
        if b_before == b_after:  # the middle of a paragraph, or a document without words
            tail, apart, head = list(removed), [], []
        added_tail, added_apart, added_head = _by_home(self.b, added)
        for i in tail:
            self._remove(i, apart=self.current < 0)
        for j in added_tail:
            self._add(j)
        for i in apart:
            self._remove(i, apart=True)
        for j in added_apart:
            self._add(j)
        if head and b_after is not None:
            self.enter(b_after)
        for i in head:
            self._remove(i, apart=b_after is None)
        for j in added_head:
            self._add(j)

    def enter(self, block: int) -> None:
        """Begin a block of b, unless it has begun."""
        if block != self.current:
            home = self.b.blocks[block]
            self.woven.append(RevisedBlock(home.kind, home.level))
            self.current = block

    def _add(self, j: int) -> None:
        self.enter(self.b.units[j].block)
        move = int(self.fates.b_move[j])
        self.put(self.b.units[j], "moved here" if move else "added", move)

    def _remove(self, i: int, apart: bool) -> None:
        """Into the block of b that is being woven, or into one for the paragraph that it was part of."""
        unit, move = self.a.units[i], int(self.fates.a_move[i])
        if apart and self.current != (home := -2 - unit.block):  # unlike any block of b
            place = self.a.blocks[unit.block]
            self.woven.append(RevisedBlock(place.kind, place.level))
            self.current = home
        self.put(unit, "moved away" if move else "removed", move)

    def put(self, unit: Unit, change: Change, move: int = 0) -> None:
        """Go on with the last block."""
        space = " " if unit.space and change == "removed" else unit.space
        self.woven[-1].pieces.append(Piece(change, unit.text + space, move))


def _by_home(version: Version, units: range) -> tuple[list[int], list[int], list[int]]:
    """Units that go on with the block before them, that are whole blocks, and that begin the block after them."""
    before, after = _home(version, units.start - 1), _home(version, units.stop)
    parts: tuple[list[int], list[int], list[int]] = [], [], []
    for unit in units:
        home = version.units[unit].block
        parts[0 if home == before else 2 if home == after else 1].append(unit)
    return parts


def _home(version: Version, unit: int) -> int | None:
    """The block of a unit; None before the first and after the last."""
    return version.units[unit].block if 0 <= unit < len(version.units) else None


def _merged(pieces: Sequence[Piece]) -> list[Piece]:
    """Pieces in order, those of one fate made one; what was replaced stands before what replaces it."""
    merged = []
    for changed, group in groupby(pieces, key=lambda piece: piece.change in ("removed", "added")):
        ordered = sorted(group, key=lambda piece: changed and piece.change == "added")
        for (change, move), same in groupby(ordered, key=lambda piece: (piece.change, piece.move)):
            merged.append(Piece(change, "".join(piece.text for piece in same), move))
    return merged
