"""The most similar pairs of a library and its groups of near-duplicates, without comparing everything with everything.

A pair is looked at when one document is among the other's nearest by words, by phrases or by vector, or when the two
share phrases that hardly any other document has; only those pairs get the exact score.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from longmatch.library.asking import ENCODED, Asking
from longmatch.library.index.segment import Segment
from longmatch.library.search import Living, candidates, score

NEAREST = 10  # by words, by phrases and by vector, for each document
RARE = 8  # documents that may hold a phrase that makes its holders a candidate pair
SHARED = 3  # such phrases that two documents share at least
BLOCK = 64  # documents fetched at a time


@dataclass(frozen=True)
class Pair:
    """Two documents of a library and their score."""

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


def find_pairs(asking: Asking, minimum: float, progress: Callable[[int], None] | None = None) -> Pairs:
    """Score the candidate pairs, each document's partners together."""
    living = Living.of(asking.index)
    partners: dict[str, set[str]] = defaultdict(set)
    for a, b in _candidates(asking, living):
        first, second = sorted((a, b))
        partners[first].add(second)
    found: list[Pair] = []
    for id in living.ids:
        if others := sorted(partners.get(id, ())):
            query = asking.store.fetch([id], ENCODED)[0].encoding()
            scored = score(query, others, asking.store, asking.index, asking.statistics)
            high = zip(scored.ids, scored.scores.tolist(), strict=True)
            found += [Pair(id, other, value) for other, value in high if value >= minimum]
        if progress:
            progress(1)
    found.sort(key=lambda pair: (-pair.score, pair.a, pair.b))
    return Pairs(tuple(found), sum(map(len, partners.values())))


def _candidates(asking: Asking, living: Living) -> Iterator[tuple[str, str]]:
    """Each document with its nearest on every side of the search, and with those that share its rare phrases."""
    for start in range(0, len(living), BLOCK):
        for row in asking.store.fetch(living.ids[start : start + BLOCK], ENCODED):
            near = candidates(row.encoding(), asking.index, living, NEAREST + 1)  # the document itself is one of them
            yield from ((row.id, other) for other in near if other != row.id)
    yield from _sharing_phrases(asking.index.segments, set(living.ids))


def _sharing_phrases(segments: Sequence[Segment], living: set[str]) -> Iterator[tuple[str, str]]:
    """Pairs that share several phrases which few documents have among their heaviest."""
    holders: dict[tuple[str, ...], int] = defaultdict(int)
    for group in _rare_phrase_holders(segments):
        holders[tuple(sorted(living.intersection(group)))] += 1
    shared: dict[tuple[str, str], int] = defaultdict(int)
    for ids, count in holders.items():
        for pair in combinations(ids, 2):
            shared[pair] += count
    yield from (pair for pair, count in shared.items() if count >= SHARED)


def _rare_phrase_holders(segments: Sequence[Segment]) -> Iterator[list[str]]:
    """The documents of each phrase that at least two and at most RARE documents are found by."""
    names = [np.array(segment.ids, dtype=object) for segment in segments]
    terms = np.concatenate([segment["phrases.kept"] for segment in segments] or [np.empty(0, np.uint64)])
    counts = np.concatenate([np.diff(segment["phrases.starts"]) for segment in segments] or [np.empty(0, np.int64)])
    home = np.repeat(np.arange(len(segments)), [len(segment["phrases.kept"]) for segment in segments])
    place = np.concatenate([np.arange(len(segment["phrases.kept"])) for segment in segments] or [np.empty(0, np.int64)])
    distinct, inverse = np.unique(terms, return_inverse=True)
    total = np.bincount(inverse, counts, len(distinct))
    chosen = np.flatnonzero((total >= 2) & (total <= RARE))
    order = np.argsort(inverse, kind="stable")
    bounds = np.searchsorted(inverse[order], [chosen, chosen + 1])
    for first, last in bounds.T.tolist():
        group: list[str] = []
        for row in order[first:last].tolist():
            segment, term = segments[home[row]], place[row]
            starts = segment["phrases.starts"]
            group += names[home[row]][segment["phrases.documents"][starts[term] : starts[term + 1]]].tolist()
        yield group


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
