"""The most similar pairs of a library and its groups of near-duplicates, without comparing everything with everything.

A pair is looked at when one document is among the other's nearest by words, by phrases or by vector. The meaning,
which takes the vectors of all sentences, is worked out only where words and document vectors leave room for it. A
document with many partners is looked at further, so that the work grows with the collection and with what is found.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from longmatch.default.calibration import ALIKE
from longmatch.library.asking import Asking
from longmatch.library.index.terms import Floats
from longmatch.library.neighbours import neighbours
from longmatch.library.question import Question
from longmatch.library.rows import INDEX_COLUMNS, MEANING_COLUMNS, DocumentRow
from longmatch.library.search import Living, Nearest, meaning_scores

NEAREST = 12  # by words, by phrases and by vector, for each document
SLACK = 0.1  # by which meaning might exceed the cosine of the document vectors; it was below in every pair measured
BLOCK = 64  # documents looked at together


@dataclass(frozen=True)
class Pair:
    """Two documents of a library and how alike they are: 0 as by chance, 1 for copies (`Calibration.likeness`)."""

    a: str
    b: str
    score: float

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"a": self.a, "b": self.b, "score": round(self.score, 6)}


@dataclass(frozen=True)
class Pairs:
    """The pairs of at least some score, the most similar first, and the groups they link."""

    pairs: tuple[Pair, ...]
    looked_at: int  # pairs that were scored

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Documents linked by pairs, directly or through others; the largest groups first."""
        return linked((pair.a, pair.b) for pair in self.pairs)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "pairs": [pair.to_dict() for pair in self.pairs],
            "groups": [list(group) for group in self.groups],
            "looked_at": self.looked_at,
        }


def find_pairs(
    asking: Asking, minimum: float, nearest: Nearest | None = None, progress: Callable[[int], None] | None = None
) -> Pairs:
    """Look for the partners of a block of documents after the other."""
    search = _Search(asking, minimum, nearest)
    ids = search.living.ids
    for start in range(0, len(ids), BLOCK):
        rows = asking.store.fetch(ids[start : start + BLOCK], INDEX_COLUMNS)
        search.look([Question.of(row, asking.index) for row in rows])
        if progress:
            progress(len(rows))
    found = sorted(search.found, key=lambda pair: (-pair.score, pair.a, pair.b))
    return Pairs(tuple(found), len(search.seen))


class _Search:
    """The pairs found so far, and those looked at."""

    def __init__(self, asking: Asking, minimum: float, nearest: Nearest | None) -> None:
        self.asking, self.minimum, self.nearest = asking, minimum, nearest
        self.living = Living.of(asking.index)
        self.found: list[Pair] = []
        self.seen: set[tuple[str, str]] = set()
        self.partners: Counter[str] = Counter()

    def look(self, questions: Sequence[Question], count: int = NEAREST) -> None:
        """Score each document's nearest; where half of them belong with it, there may be more: look further."""
        store, index = self.asking.store, self.asking.index
        near = neighbours(questions, index, self.living, count, self.nearest)
        held = {row.id: row for row in store.fetch(sorted(set().union(*near)), INDEX_COLUMNS)}
        for question, others in zip(questions, near, strict=True):
            fresh = [other for other in sorted(others) if _ordered(question.id, other) not in self.seen]
            self.seen.update(_ordered(question.id, other) for other in fresh)
            self._score(question, [held[id] for id in fresh])
        crowded = [question for question in questions if self.partners[question.id] >= count / 2]
        if crowded and count < len(self.living):
            self.look(crowded, 4 * count)

    def _score(self, question: Question, others: Sequence[DocumentRow]) -> None:
        if not others:
            return
        likeness = _likeness(self.asking, question, others, self.minimum)
        for other, value in zip(others, likeness.tolist(), strict=True):
            if value >= self.minimum:
                self.found.append(Pair(*_ordered(question.id, other.id), value))
                self.partners.update((question.id, other.id))


def _likeness(asking: Asking, question: Question, others: Sequence[DocumentRow], minimum: float) -> Floats:
    """How alike a document is to others; of those that cannot reach the minimum, the most that could be."""
    calibration = asking.statistics.calibration.trusting(*asking.index.trust)
    alike = [name for name in calibration.sides if name in ALIKE]
    sides = question.sides(others, asking.index, [*alike, "topic"])
    topic = sides.pop("topic")
    if "meaning" not in alike:
        return calibration.likeness(sides)
    sides["meaning"] = np.minimum(topic + SLACK, 1.0)
    promising = np.flatnonzero(calibration.likeness(sides) >= minimum).tolist()
    if promising:
        mine, *theirs = asking.store.fetch([question.id, *(others[i].id for i in promising)], MEANING_COLUMNS)
        sides["meaning"][promising] = meaning_scores(mine.sentence_vectors(), theirs)
    return calibration.likeness(sides)


def _ordered(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a < b else (b, a)


def linked(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, ...], ...]:
    """The groups that pairs form, by union-find.

    >>> linked([("a", "b"), ("c", "d"), ("b", "e")])
    (('a', 'b', 'e'), ('c', 'd'))
    """
    parent: dict[str, str] = {}

    def root(id: str) -> str:
        parent.setdefault(id, id)
        while parent[id] != id:
            parent[id] = parent[parent[id]]
            id = parent[id]
        return id

    for a, b in pairs:
        first, second = sorted((root(a), root(b)))
        parent[second] = first
    groups: dict[str, list[str]] = defaultdict(list)
    for id in sorted(parent):
        groups[root(id)].append(id)
    return tuple(sorted((tuple(group) for group in groups.values()), key=lambda group: (-len(group), group)))
