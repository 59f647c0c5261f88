"""Labels with documents as numbers, and what of them training may not see."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from longmatch.errors import ReadError
from longmatch.lab.datasets.records import SPLITS, Split
from longmatch.lab.store.tokens import TokenCollection
from longmatch.lab.training.data.tables import Pairs
from longmatch.units.tokens import Ints

Which = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class PairTable:
    """Pairs of documents, by their numbers: label 1 belongs together, 0 does not."""

    source: Ints
    target: Ints
    label: Ints

    def __len__(self) -> int:
        return len(self.source)

    def documents(self, rows: Ints) -> tuple[Ints, Ints]:
        """The documents of some pairs, each once (documents,), and where each pair's two stand there (2, pairs)."""
        numbers, places = np.unique(np.stack([self.source[rows], self.target[rows]]), return_inverse=True)
        return numbers, places.reshape(2, -1)

    @staticmethod
    def join(tables: Sequence["PairTable"]) -> "PairTable":
        """One after the other."""
        none = np.zeros(0, dtype=np.int64)
        return PairTable(
            *(np.concatenate([none, *(getattr(t, name) for t in tables)]) for name in ("source", "target", "label"))
        )


@dataclass(frozen=True)
class Numbered:
    """The rows of a table of pairs: split 0, 1, 2 is train, validation, test."""

    table: Pairs  # without its rows
    split: Ints
    source: Ints
    target: Ints
    label: Ints
    documents: int  # in all

    @property
    def keys(self) -> Ints:
        """One number a pair, the same both ways round."""
        return pair_keys(self.source, self.target, self.documents)

    def of(self, split: Split) -> PairTable:
        """The rows of one split."""
        rows = self.split == SPLITS.index(split)
        return PairTable(self.source[rows], self.target[rows], self.label[rows])

    def only(self, rows: Which) -> "Numbered":
        """Some of the rows."""
        return replace(
            self, split=self.split[rows], source=self.source[rows], target=self.target[rows], label=self.label[rows]
        )


def pair_keys(source: Ints, target: Ints, documents: int) -> Ints:
    """One number a pair, the same both ways round.

    >>> pair_keys(np.array([1, 4]), np.array([4, 1]), 10).tolist()
    [14, 14]
    """
    keys: Ints = np.minimum(source, target) * documents + np.maximum(source, target)
    return keys


def number_pairs(table: Pairs, tokens: TokenCollection, prefix: str) -> Numbered:
    """Look the documents up; rows with one that nothing could be read from, or of one with itself, are left out."""
    named = (id for row in table.rows for id in (row.source, row.target))
    numbers = look_up(table.path, named, tokens, prefix)
    rows = [
        (SPLITS.index(row.split), numbers[row.source], numbers[row.target], row.label)
        for row in table.rows
        if row.source in numbers and row.target in numbers and row.source != row.target
    ]
    split, source, target, label = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    return Numbered(replace(table, rows=()), split, source, target, label, len(tokens))


def look_up(path: Path, ids: Iterable[str], tokens: TokenCollection, prefix: str) -> dict[str, int]:
    """The numbers of documents that a table names; those that nothing could be read from are left out."""
    named = dict.fromkeys(ids)
    unknown = [id for id in named if prefix + id not in tokens and prefix + id not in tokens.unreadable]
    if unknown:
        raise ReadError(
            path,
            f"names {len(unknown)} unknown documents, the first of them {unknown[0]!r}",
            "Add them to the documents or drop the rows.",
        )
    return {id: tokens.number(prefix + id) for id in named if prefix + id in tokens}


def without_later_splits(tables: Sequence[Numbered]) -> list[Numbered]:
    """Drop what training would see of validation and test, and validation of test.

    That is a pair that a later split labels too, in whatever table and order, and one with a query of a later split.
    """
    kept = list(tables)
    for split in (1, 0):
        later = [table.only(table.split > split) for table in kept]
        keys = np.concatenate([np.zeros(0, dtype=np.int64), *(table.keys for table in later)])
        queries = np.concatenate([np.zeros(0, dtype=np.int64), *(t.source for t in later if t.table.judged)])
        for at, table in enumerate(kept):
            seen = np.isin(table.keys, keys) | np.isin(table.source, queries) | np.isin(table.target, queries)
            kept[at] = table.only((table.split != split) | ~seen)
    return kept
