"""Documents that do not belong together, drawn where the labels name none."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

import numpy as np

from longmatch.lab.datasets.records import SPLITS, Split
from longmatch.lab.datasets.splits import DEFAULT
from longmatch.lab.store.tokens import TokenCollection
from longmatch.lab.training.data.candidates import Candidates
from longmatch.lab.training.data.labels import Numbered, PairTable
from longmatch.lab.training.data.near import NearDocuments
from longmatch.units.tokens import Ints

Fits = Callable[[int, int], bool]


@dataclass(frozen=True)
class Negatives:
    """How non-matches are drawn: from all documents alike, or from those that share most words with the source."""

    kind: Literal["random", "near"]
    tokens: TokenCollection
    ids: Sequence[str]
    seed: int
    reachable: bool = False  # without matches that a first stage does not find: a model that ranks anew never sees them

    def added(self, rows: Numbered, split: Split, tables: Sequence[Numbered], candidates: Candidates) -> PairTable:
        """The pairs of a split, and non-matches where the table itself names none.

        Beside each match stands one; of a table of judgements `near` also makes up for the non-matches it lacks. None
        that any table pairs with the source, in whatever split. Where the splits were drawn from the ids the new pair
        is of the same split; else training takes no document that only validation and test name. What is drawn for a
        document depends on the seed and its id alone; validation and test take the same whatever the seed.
        """
        found, only_reachable = rows.of(split), self.reachable and split != "test"
        lacks = not rows.table.labelled and len(found) > 0 and (self.kind == "near" or bool(found.label.all()))
        near = self._near(found, candidates) if only_reachable or (lacks and self.kind == "near") else {}
        found = _found_first(found, near) if only_reachable else found
        if not lacks:
            return found
        sources, places = np.unique(found.source, return_inverse=True)
        lacking = np.maximum(np.bincount(places, weights=2 * found.label - 1).astype(np.int64), 0)
        fits = _fits(rows, split, tables, self.ids)
        name = f"{self.seed if split == 'train' else 0}:{split}"
        pool = near.__getitem__ if self.kind == "near" else lambda source: candidates.all
        drawn = [
            (source, other, 0)
            for source, count in zip(sources.tolist(), lacking.tolist(), strict=True)
            for other in _strangers(source, count, pool(source), fits, Random(f"{name}:{self.ids[source]}"))
        ]
        columns = np.array(drawn, dtype=np.int64).reshape(-1, 3).T
        return PairTable.join([found, PairTable(*columns)])

    def _near(self, pairs: PairTable, candidates: Candidates) -> dict[int, Ints]:
        """What a first stage finds for each source of some pairs."""
        sources = np.unique(pairs.source)
        return dict(zip(sources.tolist(), NearDocuments(self.tokens, candidates).nearest(sources), strict=True))


def _found_first(pairs: PairTable, near: Mapping[int, Ints]) -> PairTable:
    """All non-matches, and those matches that are among the documents near the source."""
    rows = zip(pairs.source.tolist(), pairs.target.tolist(), pairs.label.tolist(), strict=True)
    kept = np.array([not label or target in near[source] for source, target, label in rows], dtype=bool)
    return PairTable(pairs.source[kept], pairs.target[kept], pairs.label[kept])


def _strangers(source: int, count: int, pool: Ints, fits: Fits, random: Random) -> Iterator[int]:
    """So many documents, none twice; fewer where no more fit."""
    seen: set[int] = set()
    while count and len(seen) < len(pool):
        one = int(pool[random.randrange(len(pool))])
        if one in seen:
            continue
        seen.add(one)
        if one != source and fits(source, one):
            count -= 1
            yield one


def _fits(rows: Numbered, split: Split, tables: Sequence[Numbered], ids: Sequence[str]) -> Fits:
    known = np.unique(np.concatenate([table.keys for table in tables]))
    documents = rows.documents
    later = _named(tables, [s for s in (0, 1, 2) if s > SPLITS.index(split)])
    foreign = set(np.setdiff1d(later, _named(tables, [SPLITS.index(split)])).tolist())

    def fits(source: int, other: int) -> bool:
        key = min(source, other) * documents + max(source, other)
        at = int(np.searchsorted(known, key))
        if other in foreign or (at < len(known) and known[at] == key):
            return False
        return not rows.table.drawn or DEFAULT.of_pair(ids[source], ids[other]) == split

    return fits


def _named(tables: Sequence[Numbered], splits: Sequence[int]) -> Ints:
    """The documents that the labels of these splits name."""
    rows = [table.only(np.isin(table.split, splits)) for table in tables]
    return np.unique(np.concatenate([values for table in rows for values in (table.source, table.target)]))
