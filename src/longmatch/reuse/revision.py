"""How two versions of a text differ, word by word and section by section: added, removed, moved.

The words that stand in both in the same order are the same. Of the others, those that stand in both elsewhere have
moved. The rest was added or removed.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from longmatch.documents.document import Document
from longmatch.reuse.align import STRONG, Block, align, without_strays
from longmatch.reuse.passages import shared_passages
from longmatch.reuse.shingles import Flags, Ints
from longmatch.reuse.text_units import TextUnits, Unit
from longmatch.reuse.words import PER_WORD, Vocabulary, Words

Change = Literal["same", "added", "removed", "moved away", "moved here"]
Status = Literal["unchanged", "changed", "moved", "added", "removed"]
FEWEST_MOVED = 8  # words that have moved, unless they are a whole heading or paragraph


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
    def unchanged(self) -> bool:
        """Whether nothing in it changed."""
        return all(piece.change == "same" for piece in self.pieces)


@dataclass(frozen=True)
class SectionChange:
    """What happened to a section, in words."""

    heading: str
    opening: str  # its first words
    status: Status
    same: int = 0
    added: int = 0
    removed: int = 0
    moved: int = 0

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        counts = {name: getattr(self, name) for name in ("same", "added", "removed", "moved")}
        return {"heading": self.heading, "opening": self.opening, "status": self.status, **counts}


@dataclass(frozen=True)
class Revision:
    """The second of two versions, with what was removed from the first."""

    blocks: tuple[RevisedBlock, ...]
    sections: tuple[SectionChange, ...]  # of the second version, with the removed ones where they stood

    def words(self, name: Literal["same", "added", "removed", "moved"]) -> int:
        """The number of words that are the same, were added, removed or moved."""
        return sum(getattr(section, name) for section in self.sections)

    def to_dict(self) -> dict[str, Any]:
        """For JSON: the counts, and what happened to each section."""
        counts = {name: self.words(name) for name in ("same", "added", "removed", "moved")}
        return {**counts, "sections": [section.to_dict() for section in self.sections]}


def revise(a: Document, b: Document) -> Revision:
    """How b, the later version, differs from a."""
    vocabulary = Vocabulary()
    first, second = TextUnits.of(a, vocabulary), TextUnits.of(b, vocabulary)
    strong = STRONG * (PER_WORD if first.characters and second.characters else 1)
    blocks = without_strays(align(first.ids, second.ids), len(first.ids), len(second.ids), strong)
    fates = _Fates.of(first, second, blocks)
    return Revision(tuple(_Weaver(first, second, fates).weave(blocks)), tuple(_sections(first, second, fates)))


@dataclass(frozen=True)
class _Fates:
    """What each unit of both versions became: where it is in the other (or -1), and the move it is part of (or 0)."""

    a_partner: Ints
    b_partner: Ints
    a_move: Ints
    b_move: Ints
    b_altered: Flags  # the same word in place, with other punctuation or in other case

    @staticmethod
    def of(a: TextUnits, b: TextUnits, blocks: Iterable[Block]) -> "_Fates":
        """From the units that stand in both in order."""
        a_partner, b_partner = np.full(len(a.ids), -1), np.full(len(b.ids), -1)
        _pair(a_partner, b_partner, blocks)
        altered = np.zeros(len(b.ids), dtype=bool)
        for j in np.flatnonzero(b_partner >= 0).tolist():
            altered[j] = a.units[b_partner[j]].altered(b.units[j])
        a_move, b_move = np.zeros(len(a.ids), dtype=np.int64), np.zeros(len(b.ids), dtype=np.int64)
        for number, moved in enumerate(_moves(a, b, a_partner, b_partner), 1):
            _pair(a_partner, b_partner, moved)
            for i, j, length in moved:
                a_move[i : i + length] = number
                b_move[j : j + length] = number
        return _Fates(a_partner, b_partner, a_move, b_move, altered)


def _pair(a_partner: Ints, b_partner: Ints, blocks: Iterable[Block]) -> None:
    for i, j, length in blocks:
        a_partner[i : i + length] = np.arange(j, j + length)
        b_partner[j : j + length] = np.arange(i, i + length)


def _moves(a: TextUnits, b: TextUnits, a_partner: Ints, b_partner: Ints) -> list[list[Block]]:
    """The passages, headings and paragraphs that stand in both but not in order, in the order of the first version."""
    own = np.where(a_partner < 0, a.ids, -1 - np.arange(len(a.ids)))
    other = np.where(b_partner < 0, b.ids, -1 - len(a.ids) - np.arange(len(b.ids)))  # what is paired matches nothing
    passages = shared_passages(_as_words(own), _as_words(other), FEWEST_MOVED)
    found = [list(passage.blocks) for passage in sorted(passages, key=lambda passage: -passage.same)]
    a_free, b_free = a_partner < 0, b_partner < 0
    moves = []
    for blocks in [*found, *_whole_blocks(a, b, a_free, b_free)]:
        if all(a_free[i : i + n].all() and b_free[j : j + n].all() for i, j, n in blocks):
            moves.append(blocks)
            for i, j, n in blocks:
                a_free[i : i + n] = b_free[j : j + n] = False
    return sorted(moves)


def _as_words(ids: Ints) -> Words:
    places = np.arange(len(ids))
    return Words(ids, places, places, False)


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


class _Weaver:
    """Lays the second version out block by block, and what was removed where it stood."""

    def __init__(self, a: TextUnits, b: TextUnits, fates: _Fates) -> None:
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
        for j in (*added_tail, *added_apart):
            self._add(j)
        for i in apart:
            self._remove(i, apart=True)
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
        self.woven[-1].pieces.append(Piece(change, unit.text + " " * unit.spaced, move))


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


def _sections(a: TextUnits, b: TextUnits, fates: _Fates) -> list[SectionChange]:
    """Each section of b, and those of a that are gone after the section they followed."""
    a_home, b_home = a.sections, b.sections
    successors = _successors(a_home, b_home, fates.a_partner)
    changes: dict[int, Counter[str]] = {section: Counter() for section in b_home}
    gone: dict[int, Counter[str]] = defaultdict(Counter)
    for j, section in enumerate(b_home):
        changes[section].update(_changes(fates, j))
    for i, section in enumerate(a_home):
        if fates.a_partner[i] < 0:
            home = changes[successors[section]] if section in successors else gone[section]
            home["removed"] += 1
    listed: dict[int, list[SectionChange]] = defaultdict(list)  # by the section of b that they follow
    for section, counts in changes.items():
        listed[section].append(_section_change(b, section, counts))
    last = -1
    for section in dict.fromkeys(a_home):
        last = successors.get(section, last)
        if section in gone:
            listed[last].append(_section_change(a, section, gone[section]))
    return [change for section in sorted(listed) for change in listed[section]]


def _changes(fates: _Fates, j: int) -> tuple[str, ...]:
    """What became of a unit of b; one with other punctuation was removed and added."""
    if fates.b_altered[j]:
        return "added", "removed"
    return ("moved",) if fates.b_move[j] else ("same",) if fates.b_partner[j] >= 0 else ("added",)


def _successors(a_home: Sequence[int], b_home: Sequence[int], a_partner: Ints) -> dict[int, int]:
    """The section of b that most of the words of a section of a went to."""
    went = Counter((a_home[i], b_home[j]) for i, j in enumerate(a_partner.tolist()) if j >= 0)
    return {own: other for (own, other), _ in sorted(went.items(), key=lambda item: (item[1], item[0]))}


def _section_change(text: TextUnits, section: int, counts: Counter[str]) -> SectionChange:
    status: Status = "changed"
    if counts["moved"] > counts["same"]:
        status = "moved"
    elif not counts["added"] and not counts["removed"] and not counts["moved"]:
        status = "unchanged"
    elif not counts["same"] and not counts["moved"] and (not counts["added"] or not counts["removed"]):
        status = "added" if counts["added"] else "removed"
    counted = (counts[name] for name in ("same", "added", "removed", "moved"))
    return SectionChange(*text.opening(section), status, *counted)
