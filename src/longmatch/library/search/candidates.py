"""Step 2: candidates. The best documents by words, by phrases and by document vector, from the index alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from longmatch.default.comparison import Query
from longmatch.lexical.terms import KINDS, Ints, Kind
from longmatch.library.index.index import Index, Roster
from longmatch.ragged import Floats

CANDIDATES = 60
"""The number of documents of each kind (words, phrases, vector) that are scored exactly."""

TIED = 1e-6

Nearest = Callable[[npt.NDArray[np.float32], int], Sequence[str]]
"""The ids of the documents nearest to a vector, by the store's approximate index."""


@dataclass(frozen=True)
class Scope:
    """The documents that a search covers: their ids, and their rows in the index."""

    roster: Roster
    rows: Ints  # ascending

    @staticmethod
    def of(index: Index, allowed: set[str] | None = None, without: str | None = None) -> "Scope":
        """All documents of an index, or those allowed, `without` the query itself."""
        roster = index.roster
        wanted = roster.live.copy()
        if allowed is not None:
            wanted &= np.fromiter((name in allowed for name in roster.ids), bool, len(wanted))
        if without is not None and without in roster.rows:
            wanted[roster.rows[without]] = False
        return Scope(roster, np.flatnonzero(wanted))

    @property
    def ids(self) -> list[str]:
        """The documents' ids."""
        return self.names(slice(None))

    def names(self, places: Ints | slice) -> list[str]:
        """The ids of some of them, by their places in `rows`."""
        return [str(name) for name in self.roster.ids[self.rows[places]]]

    def name(self, place: int) -> str:
        """The id of one of them."""
        return str(self.roster.ids[self.rows[place]])

    def covers(self, id: str, index: Index) -> bool:
        """Whether a document is one of them."""
        row = index.roster.rows.get(id)
        position = int(np.searchsorted(self.rows, row)) if row is not None else len(self.rows)
        return position < len(self.rows) and bool(self.rows[position] == row)

    def __len__(self) -> int:
        return len(self.rows)


def find_candidates(query: Query, index: Index, scope: Scope, count: int, nearest: Nearest | None = None) -> list[str]:
    """The `count` best documents by words, by phrases and by document vector, each once."""
    rankings = [term_scores(kind, query, index) for kind in KINDS]
    if nearest is None:
        rankings.append(meaning_scores(query.vector[None], index)[:, 0])
    places = [_best(ranking[scope.rows], count, scope) for ranking in rankings]
    ids = scope.names(np.unique(np.concatenate(places)))
    if nearest is not None:
        direction = index.rarity.space.directions(query.vector)[0]
        ids += [id for id in nearest(direction, count + 1) if scope.covers(id, index)]
    return list(dict.fromkeys(ids))


def term_scores(kind: Kind, query: Query, index: Index) -> Floats:
    """The cosine with every document of the index, removed ones too, from their heaviest words or phrases."""
    return np.concatenate([np.zeros(0), *(segment.scores(kind, query.terms[kind]) for segment in index.segments)])


def meaning_scores(vectors: npt.NDArray[np.float32], index: Index) -> Floats:
    """The cosine in the collection's space of every document of the index with each of some: (documents, vectors)."""
    space = index.rarity.space
    directions, starts = space.directions(vectors)
    parts = [(s["means"] @ directions.T + starts) / s["means.norms"][:, None] for s in index.segments if len(s)]
    return np.concatenate([np.zeros((0, len(vectors))), *parts])


def _best(scores: Floats, count: int, scope: Scope) -> Ints:
    """The positions of the highest scores; those of 0 have nothing in common with the query."""
    found = np.flatnonzero(scores > 0)
    return found[highest(scores[found], count, lambda place: scope.name(found[place]))]


def highest(scores: npt.NDArray[np.floating], count: int, name: Callable[[int], str]) -> Ints:
    """The places of the `count` highest scores, ascending; of those tied with the last, the first by `name`.

    The last bits of a sum depend on where in memory its parts lie, which is in the order that documents were added:
    scores that differ by less than TIED are tied.

    >>> highest(np.array([0.5, 0.9, 0.5, 0.5 + 1e-8, 0.1]), 3, lambda place: "edcba"[place]).tolist()
    [1, 2, 3]
    """
    if len(scores) <= count:
        return np.arange(len(scores))
    last = np.partition(scores, len(scores) - count)[len(scores) - count]
    above = np.flatnonzero(scores > last + TIED)
    tied = np.flatnonzero(np.abs(scores - last) <= TIED).tolist()
    return np.sort(np.concatenate([above, np.array(sorted(tied, key=name)[: count - len(above)], dtype=np.int64)]))
