"""What differs between two documents of one wording, in brief: how much changed, and the first changes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from longmatch.documents.document import Document
from longmatch.reuse.revision import Revision, revise
from longmatch.reuse.section_table import Count

FIRST = 3  # changes that are quoted
COUNTS: tuple[Count, ...] = ("added", "removed", "moved")


class Difference(NamedTuple):
    """A stretch of text that was removed, one that was added, or one that replaced another."""

    removed: str
    added: str


@dataclass(frozen=True)
class Differences:
    """From one of two versions to the other: how many words changed, in how many places, and the first of these."""

    added: int
    removed: int
    moved: int
    places: int
    first: tuple[Difference, ...]

    @classmethod
    def between(cls, a: Document, b: Document) -> "Differences":
        """Compare two versions word by word."""
        revision = revise(a, b)
        found = list(_differences(revision))
        added, removed, moved = (revision.words(name) for name in COUNTS)
        return cls(added, removed, moved, len(found), tuple(found[:FIRST]))

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        counts = {name: getattr(self, name) for name in (*COUNTS, "places")}
        return counts | {"first": [difference._asdict() for difference in self.first]}


def _differences(revision: Revision) -> Iterator[Difference]:
    """What was removed or added, in order; what replaces something follows it in its block."""
    for block in revision.blocks:
        removed = ""
        for piece in block.pieces:
            if removed and piece.change != "added":
                yield Difference(removed, "")
            if piece.change == "added":
                yield Difference(removed, piece.text.strip())
            removed = piece.text.strip() if piece.change == "removed" else ""
        if removed:
            yield Difference(removed, "")
