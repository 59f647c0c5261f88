"""Two versions laid out as one text: the second, with what was removed from the first where it stood."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Literal, NamedTuple

from longmatch.reuse.align import Block
from longmatch.reuse.fates import Fates
from longmatch.reuse.version import TextUnits, Unit

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


def woven(a: TextUnits, b: TextUnits, fates: Fates) -> tuple[RevisedBlock, ...]:
    """The blocks of both versions in one order."""
    return tuple(_Weaver(a, b, fates).weave(fates.blocks))


class _Weaver:
    """Lays the second version out block by block, and what was removed where it stood."""

    def __init__(self, a: TextUnits, b: TextUnits, fates: Fates) -> None:
        self.a, self.b, self.fates = a, b, fates
        self.woven: list[RevisedBlock] = []
        self.current = -1  # block of b that the last woven one is

    def weave(self, blocks: Sequence[Block]) -> list[RevisedBlock]:
        """The gaps between the units that are the same, and these."""
        a_end = b_end = 0
        for i, j, length in [*blocks, Block(len(self.a.units), len(self.b.units), 0)]:
            self._gap(range(a_end, i), range(b_end, j))
            for own, other in zip(range(i, i + length), range(j, j + length), strict=True):
                self._same(own, other)
            a_end, b_end = i + length, j + length
        return [replace(block, pieces=_merged(block.pieces)) for block in self.woven]

    def _same(self, i: int, j: int) -> None:
        before, after = self.a.units[i], self.b.units[j]
        self._enter(after.block)
        if self.fates.b_altered[j]:
            self._put(before, "removed")
            self._put(after, "added")
        else:
            self._put(after, "same")

    def _gap(self, removed: range, added: range) -> None:
        """What was removed goes with the paragraph it was part of, or makes one of its own; so does what was added."""
        a_before, a_after = _home(self.a, removed.start - 1), _home(self.a, removed.stop)
        b_before, b_after = _home(self.b, added.start - 1), _home(self.b, added.stop)
        if b_before == b_after:  # the middle of a paragraph, or a document without words
            tail, apart, head = list(removed), list[int](), list[int]()
        else:
            tail, apart, head = _by_home(self.a, removed, a_before, a_after)
        added_tail, added_apart, added_head = _by_home(self.b, added, b_before, b_after)
        for i in tail:
            self._remove(i, apart=self.current < 0)
        for j in added_tail:
            self._add(j)
        for i in apart:
            self._remove(i, apart=True)
        for j in added_apart:
            self._add(j)
        if head and b_after is not None:
            self._enter(b_after)
        for i in head:
            self._remove(i, apart=b_after is None)
        for j in added_head:
            self._add(j)

    def _enter(self, block: int) -> None:
        if block != self.current:
            home = self.b.blocks[block]
            self.woven.append(RevisedBlock(home.kind, home.level))
            self.current = block

    def _add(self, j: int) -> None:
        self._enter(self.b.units[j].block)
        move = int(self.fates.b_move[j])
        self._put(self.b.units[j], "moved here" if move else "added", move)

    def _remove(self, i: int, apart: bool) -> None:
        """Into the block of b that is being woven, or into one for the paragraph that it was part of."""
        unit, move = self.a.units[i], int(self.fates.a_move[i])
        if apart and self.current != (home := -2 - unit.block):  # unlike any block of b
            place = self.a.blocks[unit.block]
            self.woven.append(RevisedBlock(place.kind, place.level))
            self.current = home
        self._put(unit, "moved away" if move else "removed", move)

    def _put(self, unit: Unit, change: Change, move: int = 0) -> None:
        self.woven[-1].pieces.append(
            Piece(change, unit.text + (" " if unit.space and change == "removed" else unit.space), move)
        )


def _by_home(
    text: TextUnits, units: range, before: int | None, after: int | None
) -> tuple[list[int], list[int], list[int]]:
    """Units that go on with the block before them, that are whole blocks, and that begin the block after them."""
    parts: tuple[list[int], list[int], list[int]] = [], [], []
    for unit in units:
        home = text.units[unit].block
        parts[0 if home == before else 2 if home == after else 1].append(unit)
    return parts


def _home(text: TextUnits, unit: int) -> int | None:
    """The block of a unit; None before the first and after the last."""
    return text.units[unit].block if 0 <= unit < len(text.units) else None


def _merged(pieces: Sequence[Piece]) -> list[Piece]:
    """Pieces in order, those of one fate made one; what was replaced stands before what replaces it."""
    merged = []
    for changed, group in groupby(pieces, key=lambda piece: piece.change in ("removed", "added")):
        ordered = sorted(group, key=lambda piece: changed and piece.change == "added")
        for (change, move), same in groupby(ordered, key=lambda piece: (piece.change, piece.move)):
            merged.append(Piece(change, "".join(piece.text for piece in same), move))
    return merged
